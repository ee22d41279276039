// Presenting: a button, and the key p. It goes screen by screen: as few as hold each part of the lesson, and evenly
// filled, each below its heading. What is on others is not seen. Clickers send Page Down and Page Up. After the last
// screen comes the next lesson.
(() => {
  const root = document.documentElement;
  const room = () => 0.96 * innerHeight;
  const margin = () => innerHeight / 50;
  const SMALLEST = 0.9;
  const pieces = () => [...document.querySelectorAll('article section > :not(section)')]
    .flatMap(piece => piece.matches('.cell') && (piece.offsetHeight > room() || piece.querySelector('.cell_output:not(details *) img')) ? [...piece.children] : piece)
    .filter(piece => piece.offsetHeight);
  const box = piece => piece.getBoundingClientRect(), wide = piece => piece.clientWidth && piece.scrollWidth > piece.clientWidth + 1;
  const heading = piece => /^H[123]$/.test(piece?.tagName);
  const from = (one, other) => box(other).bottom - box(one).top;
  const running = Object.assign(document.createElement('p'), {className: 'running', ariaHidden: true});
  document.body.append(running);
  const over = piece => heading(piece) ? 0 : running.offsetHeight;  // the heading that goes on, above a piece
  const title = piece => [...piece.closest('section').querySelector('h1, h2, h3').childNodes]
    .map(part => part.matches?.('.headerlink') ? '' : part.textContent).join('');

  // Pictures are as large as leaves room for what leads to them: all from the heading on, or from the last code on.
  const resize = () => {
    const all = [...document.querySelectorAll('article .diagram svg, article .cell_output img')];
    all.forEach(picture => { picture.style.maxHeight = ''; });
    if (!root.classList.contains('presenting')) return;
    all.filter(picture => box(picture).height).forEach(picture => {
      const piece = picture.closest('.cell, .diagram'), {height} = box(picture), own = box(piece).height - height;
      let first = piece, near = piece, cells = piece.matches('.tag_drawing') ? 1 : 0;  // what it draws is computed by the cell before
      while (!heading(first) && first.previousElementSibling) {
        first = first.previousElementSibling;
        if (first.matches('.cell, .question')) cells--;
        if (cells >= 0) near = first;
      }
      const last = piece.parentElement.lastElementChild, code = piece.firstElementChild.offsetHeight;
      const after = one => room() - own - (box(piece).top - box(one).top) - over(one);
      const tail = room() - (own - code) - (box(last).bottom - box(piece).bottom);
      const least = piece.matches('.diagram') ? 0.72 : 0.5;
      const high = [after(first), after(near)].find(one => one > least * innerHeight)
        ?? [room() - own, tail].find(one => one > Math.max(least, 0.62) * innerHeight) ?? room() - own;
      picture.style.maxHeight = `${Math.min(high, room() - own)}px`;
    });
  };

  // A playground leaves room for what leads to it: its plane gives way.
  const makeRoom = () => document.querySelectorAll('article:not(:has(.hero)) .playground .plane').forEach(plane => {
    plane.style.maxWidth = '';
    if (!root.classList.contains('presenting')) return;
    const piece = plane.closest('.cell') ?? plane.closest('.playground');
    let first = piece;
    while (!heading(first) && first.previousElementSibling) first = first.previousElementSibling;
    const high = room() / 0.95 - (box(piece).height - box(plane).height) - (box(piece).top - box(first).top);
    if (first !== piece && high > 0.4 * innerHeight && high < box(plane).height) plane.style.maxWidth = `${high}px`;
  });

  // The first piece of every screen: of all ways to part what stands below a heading, the best.
  const screens = () => {
    const all = pieces(), starts = [];
    for (let begin = 0, end; begin < all.length; begin = end) {
      end = begin + 1;
      while (end < all.length && (!heading(all[end]) || heading(all[end - 1]))) end++;
      const best = {[end]: [0, []]};
      for (let one = end - 1; one >= begin; one--) {
        for (let next = one + 1; next <= end; next++) {
          const height = from(all[one], all[next - 1]) + over(all[one]), last = all[next - 1];
          if (next > one + 1 && height > room() / SMALLEST) break;
          const leads = last.tagName === 'P' && (all[next]?.matches('.cell, .cell_input, .question') || last.textContent.trim().endsWith(':'));
          const loose = next < end && (heading(last) ? 5 : leads ? 0.8 : last.matches('.cell_input') ? 0.2 : 0);
          const cost = best[next][0] + Math.ceil(SMALLEST * height / room()) + 0.3 * Math.max(0, 1 - height / room()) ** 2 + loose;
          if (!(best[one]?.[0] <= cost)) best[one] = [cost, [all[one], ...best[next][1]]];
        }
      }
      starts.push(...best[begin][1]);
    }
    return joined(all, starts);
  };
  const joined = (all, starts) => {  // a screen that is nearly empty takes up the next one, if both fit
    const end = number => all[(number + 1 < starts.length ? all.indexOf(starts[number + 1]) : all.length) - 1];
    return starts.reduce((kept, start, number) => {
      const before = kept.at(-1), empty = before && from(before, end(number - 1)) < 0.55 * room();
      const both = empty && before.tagName !== 'H1' && 0.95 * from(before, end(number)) + over(before) <= room();
      return both ? kept : [...kept, start];
    }, []);
  };
  let starts = [], at = 0, here = 0, kept = null;  // what stays in sight while the window changes its size
  const ofScreen = () => {
    const all = pieces(), next = starts[at + 1];
    return all.filter(piece => !(piece.compareDocumentPosition(starts[at]) & 4) && !(next && piece.compareDocumentPosition(next) & 2) && piece !== next);
  };
  const scroll = top => {
    scrollTo({top, behavior: 'instant'});
    here = scrollY;
  };
  const pages = {'1': document.querySelector('a.next-page'), '-1': document.querySelector('a.prev-page')};
  const count = () => {
    const next = at === starts.length - 1 && pages[1]?.querySelector('.title')?.textContent;
    document.body.dataset.screen = `${at + 1} / ${starts.length}`;
    document.body.dataset.next = next ? `→ ${next}   ` : '';
  };
  const showAll = () => {
    pieces().forEach(piece => { piece.style.zoom = ''; });
    document.querySelectorAll('.elsewhere').forEach(piece => piece.classList.remove('elsewhere'));
    running.textContent = '';
  };
  // What is a little too long for one screen is a little smaller; what is short is larger, if no line becomes too long.
  const LARGER = [1.4, 1.3, 1.2, 1.1], SMALLER = [1, 0.95, SMALLEST], WHOLE = [0.85, 0.8, 0.75, 0.7];
  const scale = shown => {
    const whole = shown.some(piece => piece.matches('.live, .playground') || piece.querySelector('.playground, .live'));  // it is used as a whole
    const grows = !whole && !shown.some(piece => piece.matches('h1, .diagram') || piece.querySelector('img, svg'));
    const fits = size => {
      shown.forEach(piece => { piece.style.zoom = size; });
      const high = from(shown[0], shown.at(-1)) + over(shown[0]);
      return size > 1 ? high < 0.75 * room() && !shown.some(piece => [piece, ...piece.querySelectorAll('pre, .formula')].some(wide)) : high <= room();
    };
    if ([...grows ? LARGER : [], ...SMALLER, ...whole ? WHOLE : []].some(fits)) return;
    if (from(shown[0], shown.at(-1)) > 1.05 * room()) shown.forEach(piece => { piece.style.zoom = ''; });  // nothing helps
  };
  const show = (shown = ofScreen()) => {  // the pieces of a screen, or of a step: what is short stands a little lower
    kept = null;
    showAll();
    fitAll();
    running.textContent = heading(shown[0]) ? '' : title(shown[0]);
    running.style.left = `${box(shown[0].closest('section')).left}px`;
    scale(shown);
    const top = margin() + over(shown[0]), free = Math.max(0, room() - from(shown[0], shown.at(-1)) - over(shown[0]));
    scroll(scrollY + box(shown[0]).top - top - (free > innerHeight / 4 ? Math.min(free / 3, innerHeight / 5) : 0));
    document.activeElement.blur();  // the next key is for the screen
    count();
    pieces().forEach(piece => piece.classList.toggle('elsewhere', !shown.includes(piece)));
  };
  // The title's screen says what the lesson is; its picture comes after that.
  const facts = document.querySelector('ul.facts'), plate = document.querySelector('article h1 ~ .diagram'), below = facts?.previousElementSibling;
  const present = begin => {
    document.querySelectorAll('details.extra').forEach(extra => extra.replaceWith(...extra.lastElementChild.childNodes));  // all is presented
    document.querySelectorAll('#__toc, #__navigation').forEach(drawer => { drawer.checked = false; });
    const first = pieces().find(piece => box(piece).bottom > 0);  // what was at the top stays there
    const presenting = root.classList.toggle('presenting');
    if (facts && plate) presenting ? plate.before(facts) : below.after(facts);
    fitAll();
    resize();
    makeRoom();
    showAll();
    if (!presenting) return first?.scrollIntoView({behavior: 'instant'});
    size = `${innerWidth} ${innerHeight}`;
    starts = screens();
    at = begin ? (begin < 0 ? starts.length - 1 : 0) : Math.max(0, starts.findLastIndex(start => box(start).top <= box(first).top + 1));
    show();
  };
  const arrive = () => {  // from another lesson's last screen, or first
    const step = location.hash.match(/^#presenting(-?1)$/)?.[1];
    if (!step) return;
    history.replaceState(null, '', location.pathname + location.search);
    present(Number(step));
    root.classList.remove('arriving');
  };
  if (document.readyState === 'complete') arrive();
  else addEventListener('load', arrive);
  globalThis.present = present;  // the start page fetches this script when somebody asks for it
  document.querySelectorAll('button.present').forEach(button => {
    button.hidden = false;
    button.onclick = () => present();
  });
  addEventListener('scroll', () => {  // by hand
    if (!root.classList.contains('presenting') || Math.abs(scrollY - here) <= 3) return;
    kept = null;
    showAll();
    at = Math.max(0, starts.findLastIndex(start => box(start).top < innerHeight / 2));
    count();
  });
  let size = '';
  addEventListener('resize', () => {
    if (!root.classList.contains('presenting')) return;
    const first = kept ?? starts[at];
    showAll();
    resize();
    makeRoom();
    starts = screens();
    const piece = pieces().find(one => one.contains(first) || first.contains(one));  // a cell may be parted now
    at = Math.max(0, starts.findLastIndex(start => start === piece || start.compareDocumentPosition(piece ?? first) & 4));
    if (size === (size = `${innerWidth} ${innerHeight}`)) return count();  // something else has called for measuring
    show();
    kept = first;
  });
  const seeWhole = part => {  // what is opened or answered, if it fits
    if (!part || !root.classList.contains('presenting')) return;
    resize();
    const {top, bottom} = box(part), cell = part.closest('.cell');
    const first = cell && box(cell).height < room() ? box(cell).top : top;
    if (bottom <= innerHeight - margin()) return;
    scroll(scrollY + Math.min(bottom - innerHeight + margin(), first - margin() - running.offsetHeight));
    const cut = pieces().filter(piece => box(piece).top < running.offsetHeight && box(piece).bottom > 0 && !piece.contains(part));
    cut.forEach(piece => piece.classList.add('elsewhere'));  // rather than half of it
    if (box(ofScreen()[0]).top < 0) running.textContent = title(part.closest('section > *'));
  };
  addEventListener('toggle', event => { if (event.target.open) seeWhole(event.target); }, true);
  addEventListener('change', event => seeWhole(event.target.closest?.('.verdicts')?.closest('details, .verdicts')));
  addEventListener('submit', event => seeWhole(event.target.closest?.('.question, .by-hand')));
  const watch = new ResizeObserver(entries => {  // the model when it is brought to life, and a cell that runs, grow and stay whole
    const grown = entries.some(({target}) => target.offsetHeight && !target.closest('.elsewhere') && box(target).bottom > innerHeight);
    if (!grown || !root.classList.contains('presenting')) return;
    const shown = ofScreen().filter(piece => !piece.matches('.elsewhere')), writing = document.activeElement;
    if (box(shown[0]).top < 0) return;  // scrolled by hand
    show(shown);
    writing.focus({preventScroll: true});
  });
  document.querySelectorAll('.live, .cell.tag_runs').forEach(part => watch.observe(part));
  addEventListener('keydown', event => {
    const presenting = root.classList.contains('presenting'), clicker = presenting && event.key.startsWith('Page');
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (presenting && event.key === 'Escape' && event.target.matches?.('input, select, textarea')) return event.target.blur();
    const moves = !presenting || event.key.startsWith('Arrow');  // what a playground moves by
    if (event.target.closest?.(clicker ? 'dialog' : moves ? 'input, select, textarea, .playground, .attention-explorer, dialog'
                                                          : 'input:not([type=range], [type=radio]), select, textarea, dialog')) return;
    if (event.key === 'p' || event.key === 'Escape' && presenting) present();
    const on = event.shiftKey ? -1 : 1, space = event.target.closest?.('a, button, summary, label') ? 0 : on;
    const step = {n: 1, ArrowRight: 1, PageDown: 1, ' ': space, b: -1, ArrowLeft: -1, PageUp: -1}[event.key];
    if (!presenting || !step) return;
    event.preventDefault();
    if (!dispatchEvent(new CustomEvent('present-step', {detail: step, cancelable: true}))) return;  // the screen has steps of its own
    const all = ofScreen(), below = all.findIndex(piece => box(piece).bottom > innerHeight + 2 * margin());
    const rest = below < 0 ? [] : all.slice(below).filter(piece => !piece.querySelector('a.button'));
    const little = rest.every(piece => piece.tagName === 'P') && rest.length && from(rest[0], rest.at(-1)) < 0.15 * innerHeight;
    if (step > 0 && rest.length && !little) {  // something was opened, so there is more
      const before = scrollY;
      if (box(rest[0]).top > 2 * margin() + over(rest[0])) show(rest);
      else scroll(scrollY + 0.85 * innerHeight);
      if (Math.abs(scrollY - before) > 2) return;  // else there is no more of it to be seen
    }
    if (step < 0 && box(all[0]).top < 0) return show();
    if (!starts[at + step]) {
      if (pages[step]) location.href = `${pages[step].href}#presenting${step}`;
      return;
    }
    at += step;
    show();
  }, true);  // before a playground keeps the keys to itself

  const goOn = () => { if (root.classList.contains('presenting')) document.activeElement.blur(); };
  for (const [kind, parts] of [['pointerup', '.playground, .attention-explorer'], ['click', '.verdicts']])
    addEventListener(kind, event => {  // what was dragged or chosen lets go of the keys
      if (event.target.closest?.(parts)) setTimeout(goOn);
    });
  addEventListener('submit', goOn);
})();
