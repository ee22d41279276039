// An exercise is typed, and the page runs it: the editor, and what is shown of a verdict. Python's part is loaded with the first key.
(() => {
  const up = document.documentElement.dataset.content_root ?? './', PARTS = ['tensors', 'printing', 'kinds', 'containers', 'torch', 'chance', 'python', 'judging'];
  const load = (source, there) => there() ? Promise.resolve() : new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: up + source, onload: done, onerror: failed})));
  let language = null;
  const ready = async name => {
    language ??= PARTS.reduce((before, part) => before.then(() => (globalThis.loadedParts ??= {})[`_static/${part}.js`] ??= load(`_static/${part}.js`, () => false)), Promise.resolve());  // the cells of a lesson may have loaded it
    await Promise.all([language, load(`beside/try/${name}.js`, () => globalThis.tried?.[name])]);
  };
  function element(kind, properties, ...inside) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...inside);
    return made;
  }
  const prose = text => curled(text).split(/`([^`]+)`/).map((part, at) => at % 2 ? element('code', {textContent: part}) : part);
  const from = markup => element('span', {innerHTML: curled(markup)});

  for (const form of document.querySelectorAll('.try-it')) {
    const name = form.dataset.exercise, own = form.dataset.page === 'own', inLesson = form.dataset.page === 'lesson', area = form.querySelector('textarea'), told = form.querySelector('.told');
    const painted = form.querySelector('.painted'), stub = area.defaultValue, [check, again] = form.querySelectorAll('.moves button');
    let keeping = 0;

    // --- the editor: a text field, with the same text in colours over it ---

    function paint(faulty) {
      painted.replaceChildren(...area.value.split('\n').map((line, at) => element('div', {className: at + 1 === faulty ? 'faulty' : ''}, ...inColours(line), '\n')));
    }
    const insert = text => document.execCommand('insertText', false, text);  // so that it can be undone
    function keep(change) {
      clearTimeout(keeping);
      keeping = setTimeout(() => remembered.keep(kept => {
        if (area.value === stub && !kept.code[name]?.solved) delete kept.code[name];
        else kept.code[name] = {...kept.code[name], typed: area.value, ...change};
      }), change ? 0 : 300);
    }
    area.addEventListener('input', () => {
      paint();
      keep();
    });
    area.addEventListener('focus', () => {
      ready(name);
      const body = stub.lastIndexOf('raise');
      if (area.value === stub) setTimeout(() => area.setSelectionRange(body, stub.length));  // the first key replaces it
    });
    area.addEventListener('keydown', event => {
      const start = area.value.slice(0, area.selectionStart), line = start.split('\n').at(-1), indent = line.match(/^ */)[0];
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) insert(`\n${indent}${/:\s*$/.test(line) ? '    ' : ''}`);
      else if (event.key === 'Backspace' && line && /^(?: {4})+$/.test(line) && area.selectionStart === area.selectionEnd) {
        area.setSelectionRange(area.selectionStart - 4, area.selectionStart);
        insert('');
        if (area.selectionStart !== area.selectionEnd) document.execCommand('delete');
      } else return;
      event.preventDefault();
    });
    again.addEventListener('click', () => {
      area.focus();
      area.select();
      insert(stub);
      told.replaceChildren();
      setTimeout(() => area.setSelectionRange(stub.lastIndexOf('raise'), stub.length));
    });
    form.addEventListener('submit', async event => {
      event.preventDefault();
      told.setAttribute('aria-busy', 'true');
      try {
        await ready(name);
        const solved = Object.entries(remembered.recall().code).flatMap(([other, {right}]) => other !== name && typeof right === 'string' ? [[other, right]] : []);
        const verdict = judging.judge(name, tried[name], area.value, Object.fromEntries(solved));
        tell(verdict);
        paint(verdict.line);
        keep(verdict.sign === '✓' ? {solved: true, right: area.value} : {});
      } catch (error) {
        told.replaceChildren(element('div', {className: 'verdict wrong'}, element('p', {}, '○ This answer could not be checked.'), element('p', {}, `That is a fault of this page, not of your answer: ${error?.message ?? 'a file is missing.'}`)));
      }
      told.setAttribute('aria-busy', 'false');
      const {bottom, top} = told.getBoundingClientRect(), end = innerHeight - (document.querySelector('.place')?.offsetHeight ?? 0);
      if (bottom > end) scrollBy({top: Math.min(bottom - end + 24, top - 80), behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'});
    });

    // --- the verdict ---

    function onward() {  // in a lesson: how many of its editors are solved, and the next heading
      const names = [...document.querySelectorAll('.try-it')].map(one => one.dataset.exercise), {code} = remembered.recall();
      const solved = names.filter(one => one === name || code[one]?.solved).length;
      const next = [...document.querySelectorAll('article :is(h2, h3)')].find(head => form.compareDocumentPosition(head) & Node.DOCUMENT_POSITION_FOLLOWING);
      const words = [...next?.childNodes ?? []].filter(part => !part.matches?.('.headerlink')).map(part => part.cloneNode(true));
      return element('p', {className: 'onward'}, `${solved} of ${names.length} typed in this lesson. `,
        ...next ? [element('a', {className: 'button', href: `#${next.parentElement.id}`}, 'Read on: ', ...words)] : []);
    }

    const mistakeLink = ({name: mistake, anchor}) => element('a', {href: `${own ? '' : `${up}exercises/${name}.html`}#${anchor}`, textContent: curled(mistake)});
    function matrix({name: title, index = [], rows}, caption, kind) {
      const place = index.length ? `${title}[${index.join(', ')}]` : title, most = 8;
      const shown = rows.slice(0, most).map(row => element('tr', {}, ...row.slice(0, most).map(({text, wrong}) => element('td', {className: wrong ? kind : '', textContent: text})), ...row.length > most ? [element('td', {textContent: '…'})] : []));
      if (rows.length > most) shown.push(element('tr', {}, element('td', {textContent: '…'})));
      return element('figure', {className: 'matrix'}, element('figcaption', {}, ...caption ? [`${caption} `] : [], element('code', {textContent: place})), element('table', {}, element('tbody', {}, ...shown)));
    }
    function evidence({inputs, given, yours, expected, printed}, isRight) {
      const results = [...yours ? [matrix(yours, 'your', 'off')] : [], ...expected && !isRight ? [matrix(expected, 'expected', 'wanted')] : []];
      const arrow = given.length && results.length ? [element('span', {className: 'gives', textContent: '→', ariaHidden: true})] : [];
      return element('div', {className: 'evidence'}, element('p', {}, ...prose(inputs)),
        element('div', {className: 'matrices'}, ...given.length ? [element('div', {}, ...given.map(one => matrix(one, '', '')))] : [], ...results.length ? [element('div', {}, ...arrow, ...results)] : []),
        ...printed?.length ? [element('p', {}, 'Your code printed:'), element('pre', {className: 'numbers printed', textContent: printed.join('').split('\n').slice(0, 20).join('\n')})] : []);
    }
    function tell({sign, headline, mistakes, both, why, look, said, unknown, case: shown}) {
      const kind = {'✓': 'right', '✗': 'wrong', '○': 'open'}[sign], isRight = sign === '✓', lesson = form.dataset.lesson;
      const title = mistakes ? [': ', ...both ? ['two mistakes at once: '] : mistakes.length > 1 ? ['either '] : [], ...mistakes.flatMap((one, at) => [...at ? [both ? ' and ' : ' or '] : [], mistakeLink(one)]), '.'] : headline ? [`: ${headline}`] : [];
      const card = element('div', {className: `verdict ${kind}`}, element('p', {}, `${sign} ${name}`, ...title), ...both ? [element('p', {}, 'Taken one at a time:')] : [], ...(mistakes ?? []).map(one => element('p', {}, from(one.why))), ...why.map(text => element('p', {}, ...prose(text))), ...said ? [element('p', {}, ...prose(said))] : []);
      if (shown) card.append(evidence(shown, isRight));
      const looks = mistakes ? mistakes.map(one => from(one.look)) : look ? [element('span', {}, ...prose(look))] : [];
      looks.forEach(one => card.append(element('p', {className: 'look'}, element('b', {}, 'Where to look: '), one)));
      const there = inLesson ? 'the notebook' : element('a', {href: `${up}${form.dataset.notebook}`}, `lesson ${lesson}`);
      if (unknown) card.append(element('p', {}, `None of the ${tried[name].mistakes.length} mistakes that this page knows gives this result. In `, there, ', ', element('code', {textContent: `check("${name}", ${name})`}), ' knows more.'));
      if (isRight) {
        card.append(element('p', {}, 'This page compares numbers. In ', there, ', ', element('code', {textContent: `check("${name}", ${name})`}), ` looks at more than these${tried[name].gradients ? ': gradients, for one' : ''}.`));
        if (inLesson) card.append(onward());
        else card.append(element('p', {className: 'onward'}, element('a', {className: 'button', href: own ? `${form.dataset.next}.html#type-the-code` : `#${form.dataset.next}`}, 'Next: ', element('code', {textContent: form.dataset.next})), ' ', element('a', {className: 'button quiet', href: `${up}${form.dataset.notebook}`}, `Back to lesson ${lesson}`)));
      }
      told.replaceChildren(card);
    }

    const {typed} = remembered.recall().code[name] ?? {};
    if (typed !== undefined) area.value = typed;
    paint();
    form.classList.add('ready');
    check.disabled = again.disabled = false;
    const knows = form.querySelector('details.knows');
    knows?.addEventListener('toggle', async () => {
      await ready(name);
      const names = table => Object.keys(table).sort().join(', '), {known, builtins} = library;
      knows.querySelector('dl').replaceChildren(...Object.entries({'torch.': known.torch, 'of a tensor': known.method, 'F.': known.F, 'np.': known.np, 'of an array': known.array, 'math.': known.math, Python: builtins})
        .flatMap(([title, table]) => [element('dt', {textContent: title}), element('dd', {textContent: names(table)})]));
    }, {once: true});
  }

  // The page with all of them shows one at a time.
  const chips = document.querySelector('.chips');
  if (!chips) return;
  const sections = [...document.querySelectorAll('section.tried')];
  const select = element('select', {onchange: () => { location.hash = select.value; }});  // on a phone the chips would fill the screen
  chips.after(element('label', {className: 'choose'}, 'Exercise ', select));
  const choose = () => {
    const wanted = decodeURIComponent(location.hash.slice(1)), {code} = remembered.recall();
    const one = sections.find(({id}) => id === wanted) ?? sections.find(({id}) => !code[id]?.solved) ?? sections[0];
    sections.forEach(section => { section.hidden = section !== one; });
    chips.querySelectorAll('a').forEach(link => link.toggleAttribute('aria-current', link.hash === `#${one.id}`));
    select.replaceChildren(...sections.map(({id}) => new Option(code[id]?.solved ? `${id} ✓` : id, id, false, id === one.id)));
    if (wanted === one.id && chips.getBoundingClientRect().top < 0) chips.scrollIntoView({behavior: 'instant'});
  };
  addEventListener('hashchange', choose);
  choose();
})();
