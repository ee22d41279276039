// What this browser remembers: answers, playgrounds that were tried, wrong lines that were found, code that was typed, sections that were folded or read, and where to continue. Nothing is sent anywhere.
(() => {
  const KEY = 'transformer-lessons', all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  // A damaged store counts as an empty one; where none is allowed, the page remembers until it is closed.
  const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
  const whole = kept => ({
    answers: Object.fromEntries(Object.entries(isObject(kept?.answers) ? kept.answers : {}).filter(([, answer]) => isObject(answer))),
    tried: Object.fromEntries(Object.entries(isObject(kept?.tried) ? kept.tried : {}).filter(([, when]) => when === true)),
    lines: Object.fromEntries(Object.entries(isObject(kept?.lines) ? kept.lines : {}).filter(([, tries]) => Number.isInteger(tries))),
    code: Object.fromEntries(Object.entries(isObject(kept?.code) ? kept.code : {}).filter(([, one]) => isObject(one) && typeof one.typed === 'string')),
    lessons: Object.fromEntries(Object.entries(isObject(kept?.lessons) ? kept.lessons : {})
      .filter(([, lesson]) => isObject(lesson) && Array.isArray(lesson.questions) && typeof lesson.title === 'string' && typeof lesson.page === 'string')),
    folded: Object.fromEntries(Object.entries(isObject(kept?.folded) ? kept.folded : {})
      .filter(([, sections]) => Array.isArray(sections) && sections.every(section => typeof section === 'string'))),
    places: Object.fromEntries(Object.entries(isObject(kept?.places) ? kept.places : {}).filter(([, section]) => typeof section === 'string')),
    last: typeof kept?.last === 'string' ? kept.last : '',
  });
  let held = null;
  function recall() {
    try {
      return whole(JSON.parse(localStorage.getItem(KEY)));
    } catch {
      return whole(held);
    }
  }
  function keep(change) {  // what another tab has kept in the meantime stays
    held = recall();
    change(held);
    try {
      localStorage.setItem(KEY, JSON.stringify(held));
    } catch { /* full, or not allowed */ }
    mark();
  }

  const questions = all('.question[data-question]'), numberOf = question => question.dataset.question;
  const title = [...document.querySelector('article h1')?.childNodes ?? []].filter(node => !node.matches?.('.headerlink'));
  const here = title.map(node => node.textContent).join('').match(/^(\d+) · (.+)/);
  const page = location.pathname.split('/').pop();
  const up = document.documentElement.dataset.content_root ?? './';

  // To open a lesson is not to begin it: one continues where something was answered, tried, or read a good way down.
  const lesson = here && up === '../' ? here[1] : '';
  function keepHere(change) {
    keep(kept => {
      if (lesson) kept.last = lesson;
      change(kept);
    });
  }
  const READ = 0.2;
  const reading = () => {
    if (scrollY < READ * document.documentElement.scrollHeight) return;
    removeEventListener('scroll', reading);
    if (recall().last !== lesson) keepHere(() => {});
  };
  if (lesson) addEventListener('scroll', reading, {passive: true});

  // --- what is answered ---

  let restoring = false;
  const choicesOf = question => all('details.choice', question);
  const letterOf = choice => choice.querySelector('b').textContent;
  // Solved is what was found, not what was left over: beside all right choices at most one wrong one is open, and another is not.
  function solvedByChoices(question) {
    const right = choicesOf(question).filter(choice => choice.querySelector('.right'));
    const wrong = choicesOf(question).filter(choice => choice.querySelector('.wrong')), tried = wrong.filter(choice => choice.open).length;
    return right.length > 0 && right.every(choice => choice.open) && tried <= 1 && (tried < wrong.length || !wrong.length);
  }
  questions.forEach(question => {
    choicesOf(question).forEach(choice => choice.addEventListener('toggle', () => {
      if (restoring || document.documentElement.dataset.printing) return;
      const opened = choicesOf(question).filter(choice => choice.open).map(letterOf);
      const solved = choice.open && solvedByChoices(question);  // to close the wrong ones afterwards solves nothing
      if (opened.length) keepHere(kept => { kept.answers[numberOf(question)] = {opened, solved: solved || Boolean(kept.answers[numberOf(question)]?.solved)}; });
    }));
    const form = question.querySelector('form.field');
    form?.addEventListener('submit', () => setTimeout(() => {
      if (restoring) return;
      const said = form.querySelector('output');
      if (said.className) keepHere(kept => { kept.answers[numberOf(question)] = {typed: form.elements.answer.value, solved: said.className === 'right'}; });
    }));
  });
  all('.playground').forEach(playground => {
    const name = playground.getAttribute('aria-label');
    for (const kind of ['input', 'pointerdown', 'keydown'])
      playground.addEventListener(kind, event => {
        if (!event.target.closest('input, button, .handle, [role="checkbox"], select') || recall().tried[name]) return;
        keepHere(kept => { kept.tried[name] = true; });
      });
  });

  function restore() {
    restoring = true;
    const {answers} = recall();
    questions.forEach(question => {
      const answer = answers[numberOf(question)], form = question.querySelector('form.field');
      choicesOf(question).forEach(choice => { if (Array.isArray(answer?.opened)) choice.open = answer.opened.includes(letterOf(choice)); });
      if (form && typeof answer?.typed === 'string' && form.elements.answer.value !== answer.typed) {
        form.elements.answer.value = answer.typed;
        form.requestSubmit();
      }
    });
    setTimeout(() => { restoring = false; }, 50);
  }

  // --- what is shown of it ---

  function progress({answers, lessons}, number) {
    const known = lessons[number]?.questions ?? [], solved = known.filter(question => answers[question]?.solved);
    return {known, solved, open: known.filter(question => !answers[question]?.solved)};
  }

  function mark() {
    const kept = recall();
    questions.forEach(question => question.classList.toggle('solved', Boolean(kept.answers[numberOf(question)]?.solved)));
    all('.playground').forEach(playground => playground.classList.toggle('tried', Boolean(kept.tried[playground.getAttribute('aria-label')])));
    all('.sidebar-tree a[href*="_"], .sidebar-tree a.reference').forEach(link => {
      const number = link.textContent.match(/^\s*(\d+) · /)?.[1];
      if (!number) return;
      const {known, solved} = progress(kept, number);
      const tick = link.querySelector('.tick') ?? link.appendChild(Object.assign(document.createElement('span'), {className: 'tick', role: 'img'}));
      tick.style.setProperty('--part', known.length ? solved.length / known.length : 0);
      tick.hidden = !solved.length;
      tick.ariaLabel = solved.length ? `${solved.length} of ${known.length} questions answered` : '';
    });
    all('.path > li[data-lesson]').forEach(card => {
      const {known, solved} = progress(kept, card.dataset.lesson);
      const told = card.querySelector('.done') ?? card.querySelector('em').appendChild(Object.assign(document.createElement('b'), {className: 'done'}));
      told.textContent = !solved.length ? '' : solved.length === known.length ? ' · ✓ all questions answered' : ` · ${solved.length} of ${known.length} questions answered`;
    });
    all('.exercise[data-exercise] .found').forEach(told => {  // on the card of an exercise
      const name = told.closest('.exercise').dataset.exercise;
      const many = Object.entries(kept.lines).filter(([id, tries]) => tries && id.startsWith(`${name}/`)).length;
      told.textContent = many ? `, ${many} found` : '';
      told.closest('.exercise').classList.toggle('solved', Boolean(kept.code[name]?.solved));
    });
    all('.try-it[data-exercise], .chips [data-exercise]').forEach(one => one.classList.toggle('solved', Boolean(kept.code[one.dataset.exercise]?.solved)));
    const start = document.querySelector('p.start');
    start?.querySelector('.continue')?.remove();
    const next = start && goOn(kept);
    const first = start?.querySelector('.button:not(.continue)');
    first?.classList.toggle('quiet', Boolean(next));
    if (first) first.hidden = Boolean(next) && next.address.split('#')[0] === first.getAttribute('href');  // both would lead to lesson 1
    if (next) start.prepend(Object.assign(document.createElement('a'), {className: 'button continue', href: next.address, textContent: next.words}), ' ');
    const forget = document.querySelector('.forget');
    if (forget) forget.hidden = !kept.last && !['answers', 'tried', 'lines', 'code', 'folded', 'places'].some(kind => Object.keys(kept[kind]).length);
  }

  function goOn(kept) {  // the first open question of the lesson that was read last, or the lesson after it
    const lesson = kept.lessons[kept.last];
    if (!lesson) return null;
    const {known, open} = progress(kept, kept.last);
    const place = open.length < known.length ? `#question-${open[0]}` : kept.places[lesson.page] ? `#${kept.places[lesson.page]}` : '';
    if (open.length) return {address: `notebooks/${lesson.page}${place}`,
      words: open.length < known.length ? `Continue at ${open[0]}` : `Continue with lesson ${kept.last}`};
    const after = document.querySelector(`.path > li[data-lesson="${Number(kept.last) + 1}"] a`);
    return after && {address: after.getAttribute('href'), words: `Continue with lesson ${Number(kept.last) + 1}`};
  }

  document.querySelector('.forget button')?.addEventListener('click', () => {
    held = null;
    try {
      localStorage.removeItem(KEY);
    } catch { /* there was none */ }
    mark();
  });
  addEventListener('storage', event => {  // another tab
    if (event.key !== KEY && event.key !== null) return;
    restore();
    mark();
  });
  addEventListener('beforeprint', () => { document.documentElement.dataset.printing = true; });
  addEventListener('afterprint', () => setTimeout(() => { delete document.documentElement.dataset.printing; }, 100));
  if (lesson) keep(kept => { kept.lessons[lesson] = {title: here[2], page, questions: questions.map(numberOf)}; });
  globalThis.remembered = {recall, keep};
  restore();
  mark();
})();

// Lists that are filtered as one types.
(() => {
  const form = document.querySelector('form.filter'), list = document.querySelector('[data-filter]');
  if (!form || !list) return;
  const kind = list.dataset.filter, plain = text => text.toLowerCase().normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  const items = [...list.querySelectorAll(`.${kind}`)].map(item => ({item, text: plain(item.textContent)}));
  const none = document.createElement('p'), up = document.documentElement.dataset.content_root ?? './';
  Object.assign(none, {className: 'none', hidden: true, textContent: `No ${kind} here has these words. `});
  const everywhere = none.appendChild(Object.assign(document.createElement('a'), {textContent: 'Search all of the course'}));
  list.after(none);
  const select = form.querySelector('select'), output = form.querySelector('output');
  form.hidden = false;
  form.onsubmit = () => false;
  form.oninput = () => {
    const words = plain(form.querySelector('input').value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const {item, text} of items) {
      item.hidden = !words.every(word => text.includes(word)) || Boolean(select?.value) && item.dataset.difficulty !== select.value;
      shown += !item.hidden;
    }
    list.querySelectorAll('section').forEach(section => { section.hidden = !section.querySelector(`.${kind}:not([hidden])`); });
    output.textContent = words.length || select?.value ? `${shown || 'None'} of ${items.length}` : '';
    none.hidden = shown > 0;
    everywhere.href = `${up}search.html?q=${encodeURIComponent(words.join(' '))}`;
    document.querySelectorAll('.letters a').forEach(link => link.classList.toggle('empty', list.querySelector(link.getAttribute('href')).closest('section').hidden));
  };
})();

// The search field beside every page: results as one types. The index is loaded when the field is first used.
(() => {
  const form = document.querySelector('.sidebar-search-container'), field = form?.querySelector('input');
  if (!field) return;
  const up = document.documentElement.dataset.content_root ?? './', most = 8;
  const list = form.appendChild(Object.assign(document.createElement('ul'), {className: 'quick'}));
  const load = name => new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: up + name, onload: done, onerror: failed})));
  let ready = null;
  field.autocomplete = 'off';
  field.onfocus = () => { ready ??= globalThis.finder ? Promise.resolve() : load('beside/found.js').then(() => load('_static/search.js')); };
  field.oninput = async () => {
    field.onfocus();
    await ready;
    const {best, words, right} = finder.find(field.value), shown = words.length ? best.slice(0, most) : [];
    const meant = shown.length && right.join() !== words.join() ? [Object.assign(document.createElement('li'), {className: 'meant', textContent: `Found for “${right.join(' ')}”`})] : [];
    list.replaceChildren(...meant, ...shown.map(thing => {
      const item = document.createElement('li');
      const link = item.appendChild(Object.assign(document.createElement('a'), {href: up + thing.address, textContent: curled(thing.title)}));
      link.append(Object.assign(document.createElement('small'), {textContent: thing.kind}));
      return item;
    }));
  };
  form.addEventListener('keydown', event => {  // arrows go through the results, Escape leaves them
    const links = [...list.querySelectorAll('a')], at = links.indexOf(document.activeElement);
    const next = {ArrowDown: at + 1, ArrowUp: at - 1}[event.key];
    if (event.key === 'Escape') list.replaceChildren();
    if (event.key === 'Escape' || next === -1) field.focus();
    else if (next !== undefined && links.length) links[Math.max(0, Math.min(next, links.length - 1))].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener('click', event => { if (!event.target.closest('.sidebar-search-container')) list.replaceChildren(); });
})();
