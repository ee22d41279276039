// "Which line is wrong?": a solution with one wrong line, which the reader clicks.
(() => {
  const root = document.querySelector('.wrong-lines');
  if (!root) return;
  const part = name => root.querySelector(name), code = part('.code'), told = part('.told'), asked = part('.asked');
  const form = part('form'), select = form.elements.exercise, output = form.querySelector('output');
  const own = root.dataset.exercise, up = document.documentElement.dataset.content_root ?? './';  // its own, on an exercise's page
  const names = own ? [own] : [...select.options].map(option => option.value).filter(Boolean);
  const today = new Date(), day = Math.floor((today - today.getTimezoneOffset() * 60000) / 86400000);
  let name = '', puzzle = null, tries = 0, solved = false;

  const load = wanted => globalThis.wrongLines?.[wanted] ? Promise.resolve() : new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: `${up}beside/wrong-lines/${wanted}.js`, onload: done, onerror: failed})));
  const idOf = (exercise, [mistake]) => `${exercise}/${mistake}`;
  const kept = () => remembered.recall().lines;
  const scatter = number => {  // the same for everyone, and without a pattern
    let mixed = Math.imul(number ^ 0x9e3779b9, 0x85ebca6b);
    mixed = Math.imul(mixed ^ mixed >>> 13, 0xc2b2ae35);
    return (mixed ^ mixed >>> 16) >>> 0;
  };

  function element(kind, properties, ...inside) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...inside);
    return made;
  }

  async function choose(daily) {
    if (daily) {
      const daily = root.dataset.daily.split(' ');
      name = daily[scatter(day) % daily.length];
      await load(name);
      const {puzzles} = wrongLines[name];
      return puzzles[scatter(day + 7919) % puzzles.length];
    }
    name = own || select.value || names[Math.floor(Math.random() * names.length)];
    await load(name);
    const {puzzles} = wrongLines[name], fresh = puzzles.filter(one => !(idOf(name, one) in kept()) && one !== puzzle);
    const from = fresh.length ? fresh : puzzles;
    return from[Math.floor(Math.random() * from.length)];
  }

  async function ask(daily) {
    puzzle = await choose(daily);
    [tries, solved] = [0, false];
    const {right, lesson, title} = wrongLines[name], [, , , , at, wrong] = puzzle;
    if (own) asked.textContent = 'Which of these lines is wrong?';
    else asked.replaceChildren(daily ? 'Today’s line is in ' : 'The line is in ', element('a', {href: `exercises/${name}.html`}, element('code', {textContent: name})),
      `, lesson ${lesson}: `, element('em', {innerHTML: curled(title)}), '.');
    code.replaceChildren(...right.map((line, number) => {
      const shown = number === at ? wrong : line, indent = shown.match(/^ */)[0].length;
      const button = element('button', {type: 'button', onclick: () => tryLine(number)}, ...inColours(shown.trim()));
      button.style.setProperty('--in', indent);
      return element('li', {}, button);
    }));
    told.replaceChildren();
    part('[name=hint]').disabled = part('[name=show]').disabled = false;
    count();
    if (daily && kept()[idOf(name, puzzle)]) tell(true);  // found before
  }

  function tryLine(number) {
    if (solved) return;
    tries += 1;
    if (number === puzzle[4]) return finish(true);
    const line = code.children[number].firstChild;
    line.classList.add('missed');
    line.disabled = true;
    told.replaceChildren(element('p', {}, `Line ${number + 1} is right. Look again.`), ...told.querySelectorAll('.hint'));
    show();
  }
  const show = () => told.firstChild.scrollIntoView({block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'});

  function hint() {
    told.append(element('p', {className: 'hint', innerHTML: `<em>Look:</em> ${curled(puzzle[3])}`}));
    part('[name=hint]').disabled = true;
    tries += 1;
  }

  function finish(found) {
    tell(found);
    remembered.keep(kept => {
      kept.lines[idOf(name, puzzle)] ??= found ? tries : 0;
    });
    count();
    part('[name=next]').focus({preventScroll: true});
    show();
  }

  function tell(found) {
    const [mistake, anchor, why, , at, wrong] = puzzle;
    solved = true;
    part('[name=hint]').disabled = part('[name=show]').disabled = true;
    code.querySelectorAll('button').forEach(line => { line.disabled = true; });
    code.children[at].firstChild.classList.add(found ? 'found' : 'shown');
    told.replaceChildren(
      element('div', {className: `verdict ${found ? 'right' : 'wrong'}`},
        element('p', {}, found ? `✓ Line ${at + 1}: ` : `○ It is line ${at + 1}: `, element('a', {href: `${own ? '' : `exercises/${name}.html`}#${anchor}`, textContent: curled(mistake)}), '.'),
        element('p', {innerHTML: curled(why)}),
        element('pre', {className: 'numbers'}, element('del', {}, ...inColours(wrong.trim())), '\n', element('ins', {}, ...inColours(wrongLines[name].right[at].trim())))));
  }

  function count() {
    const counts = Object.entries(kept()).filter(([id]) => !own || id.startsWith(`${own}/`)).map(([, tries]) => tries), found = counts.filter(Boolean).length, first = counts.filter(tries => tries === 1).length;
    const of = own ? ` of ${wrongLines[own].puzzles.length}` : '';
    output.textContent = counts.length ? `${found}${of} found${first ? `, ${first} of them at the first click` : ''}` : '';
  }

  form.onsubmit = () => false;
  if (select) select.onchange = () => {
    history.replaceState(null, '', select.value ? `#${select.value}` : location.pathname + location.search);
    ask(!select.value);
  };
  part('[name=hint]').onclick = hint;
  part('[name=show]').onclick = () => finish(false);
  part('[name=next]').onclick = () => {
    ask(false);
    code.querySelector('button').focus({preventScroll: true});
  };
  root.hidden = false;
  if (own) {  // nothing is loaded before it is unfolded
    const fold = root.closest('details');
    fold.addEventListener('toggle', () => { if (fold.open && !puzzle) ask(false); });
    const wish = () => { fold.open ||= location.hash === `#${fold.id}`; };
    addEventListener('hashchange', wish);
    wish();
    return;
  }
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (names.includes(wanted)) select.value = wanted;
  ask(!select.value);
})();
