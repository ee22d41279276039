// A long page says where one is: its sections as a line, the one that is read by name, the way to the one before and the next.
(() => {
  const root = document.documentElement, heads = [...document.querySelectorAll('article > section > section > h2')];
  if (heads.length < 4 || !document.querySelector('.toc-tree')) return;
  const make = (kind, properties, parent) => parent.appendChild(Object.assign(document.createElement(kind), properties));
  const place = make('nav', {className: 'place', ariaLabel: 'Sections of this page'}, document.querySelector('article'));
  const line = make('div', {className: 'line', ariaHidden: 'true'}, place), parts = heads.map(() => make('i', {}, line));
  const before = make('a', {className: 'before', textContent: '←', ariaLabel: 'Section before'}, place);
  const now = make('a', {className: 'now'}, place), number = make('b', {}, now), name = make('span', {}, now), rest = make('small', {}, now);
  const next = make('a', {className: 'next', textContent: '→'}, place);
  const named = head => [...head.childNodes].map(part => part.matches?.('.headerlink') ? '' : part.textContent).join('');
  const names = heads.map(named), address = at => `#${heads[at].parentElement.id}`;
  const box = element => element.getBoundingClientRect(), onward = document.querySelector('a.next-page');
  const minutes = Number([...document.querySelectorAll('ul.facts li')].find(fact => fact.textContent.trim().startsWith('Time'))?.textContent.match(/\d+/)?.[0] ?? 0);
  const page = location.pathname.split('/').pop(), lesson = document.querySelector('ul.parts');
  let kept = -1;
  const follow = () => {
    if (root.classList.contains('presenting')) return;
    const tops = heads.map(head => box(head).top), end = box(place.parentElement).bottom;
    const mark = Math.max(innerHeight / 3, innerHeight - (root.scrollHeight - innerHeight - scrollY));  // at the end all is read
    const asked = heads.findIndex((_, at) => location.hash === address(at));  // the next one may be on the same screen
    const at = tops[asked] >= 0 && tops[asked] <= mark ? asked : tops.findLastIndex(top => top <= mark);
    let read = 0;
    parts.forEach((part, at) => {
      const high = (tops[at + 1] ?? end) - tops[at];
      read += Math.min(Math.max(mark - tops[at], 0), high) / (end - tops[0]);
      part.style.flexGrow = Math.max(high, 1);
      part.style.setProperty('--read', Math.min(Math.max((mark - tops[at]) / high, 0), 1));
    });
    number.textContent = at < 0 ? `${heads.length} sections` : `${at + 1} of ${heads.length}`;
    name.textContent = at < 0 ? '' : names[at];
    const left = 5 * Math.round(minutes * (1 - read) / 5);  // a page is long where it takes long
    rest.textContent = left ? `about ${left} min left` : '';
    if (lesson && at > 0 && at !== kept && scrollY > innerHeight) globalThis.remembered?.keep(all => { all.places[page] = heads[kept = at].parentElement.id; });
    now.href = at < 0 ? '#' : address(at);
    before.hidden = at < 0;
    before.href = at > 0 ? address(at - 1) : '#';
    const last = at === heads.length - 1;
    next.hidden = last && !onward;
    next.href = last ? onward?.href ?? '#' : address(at + 1);
    next.ariaLabel = last ? 'Next page' : 'Next section';
  };
  let waiting = 0;
  const soon = () => { waiting ||= requestAnimationFrame(() => { waiting = 0; follow(); }); };
  for (const kind of ['scroll', 'resize', 'load']) addEventListener(kind, soon, {passive: true});
  addEventListener('toggle', soon, true);
  follow();

  // Who comes back is asked to continue at the section that was read.
  addEventListener('DOMContentLoaded', () => {
    const at = heads.findIndex(head => head.parentElement.id === globalThis.remembered?.recall().places[page]);
    if (!lesson || at < 1 || location.hash) return;
    document.querySelector('.actions')?.prepend(Object.assign(document.createElement('a'), {className: 'button continue', href: address(at), textContent: `Continue at section ${at + 1}`, title: names[at]}), ' ');
  });
})();

// A section of a lesson can be folded away; the browser remembers which are.
(() => {
  const outline = document.querySelector('p.parts'), lesson = location.pathname.split('/').pop();
  if (!outline) return;
  const sections = [...document.querySelectorAll('article > section > section')].filter(section => section.querySelector(':scope > h2'));
  const make = (kind, properties) => Object.assign(document.createElement(kind), properties);
  const named = section => [...section.querySelector('h2').childNodes].map(part => part.matches?.('.headerlink') ? '' : part.textContent).join('');
  const buttons = sections.map(section => {
    const button = make('button', {type: 'button', className: 'fold', onclick: () => { fold([section], !section.matches('.folded')); keep(); }});
    section.querySelector('h2').after(button);
    return button;
  });
  const all = outline.appendChild(make('button', {type: 'button', className: 'fold-all', onclick: () => { fold(sections, sections.some(section => !section.matches('.folded'))); keep(); }}));
  const show = () => {
    buttons.forEach((button, at) => {
      const folded = sections[at].matches('.folded');
      button.ariaExpanded = String(!folded);
      button.ariaLabel = `${folded ? 'Unfold' : 'Fold'}: ${named(sections[at])}`;
      button.title = folded ? 'Unfold this section' : 'Fold this section';
    });
    all.textContent = sections.every(section => section.matches('.folded')) ? 'Unfold all' : 'Fold all';
  };
  const fold = (those, away) => {
    those.forEach(section => section.classList.toggle('folded', away));
    show();
    if (those.length) dispatchEvent(new Event('resize'));  // what has been out of sight is measured
  };
  // remember.js comes after this script.
  const keep = () => globalThis.remembered?.keep(kept => { kept.folded[lesson] = sections.filter(section => section.matches('.folded')).map(({id}) => id); });
  const reach = () => {  // what a link leads to is unfolded
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = target && target.closest('.folded');
    if (!section) return;
    fold([section], false);
    target.scrollIntoView({behavior: 'instant'});
  };
  addEventListener('DOMContentLoaded', () => {
    const folded = globalThis.remembered?.recall().folded[lesson] ?? [];
    fold(sections.filter(({id}) => folded.includes(id)), true);
    reach();
  });
  addEventListener('hashchange', reach);
  document.addEventListener('click', event => { if (event.target.closest('a[href*="#"]')) setTimeout(reach); });
  show();
})();
