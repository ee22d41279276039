// Small things that style sheets cannot do.
globalThis.curled = text => text.replace(/(?<=\p{L})'(?=\p{L})|(?<=s)'(?=\s)/gu, '’');  // apostrophes

(() => {
  // A table with gaps of two at most between its columns.
  const closer = table => {
    const lines = table.split('\n'), gone = new Set();
    for (let at = 0, gap = 0; at < Math.max(...lines.map(line => line.length)); at++) {
      gap = lines.every(line => (line[at] ?? ' ') === ' ') ? gap + 1 : 0;
      if (gap > 2) gone.add(at);
    }
    return lines.map(line => line.split('').filter((_, at) => !gone.has(at)).join('')).join('\n');
  };

  // Long lines go on below, indented as they are, and not out of sight; but columns of numbers stay columns.
  function wrap(pre, tooWide) {
    if (pre.querySelector('.line')) return;
    const output = pre.closest('.cell_output');
    const rows = output ? pre.textContent.match(/^(?:.*\S {2,}\S| *(?:\[|array|tensor))/gm)?.length ?? 0 : 0;
    const sentences = /^(?! *(?:\[|array|tensor)).*?(?:\S ?){31}/m.test(pre.textContent);  // beside a name; they may go on below
    if (rows > 1 && rows >= pre.textContent.match(/^.*\S/gm).length / 2 && !sentences) {
      if (tooWide) pre.textContent = pre.textContent.replace(/(?:.*\S.*\n?)+/g, closer);
      return;
    }
    pre.querySelectorAll('.c1').forEach(remark => remark.classList.toggle('short', remark.textContent.length < 30));
    const far = /^ {9,}.{30}/m.test(pre.textContent) && phone.matches;  // what stands below a bracket far to the right moves to the left
    let before = 0;
    pre.innerHTML = pre.innerHTML.replace(/<span><\/span>|\n$/g, '').replace(/\n{3,}/g, '\n\n').split('\n').map(line => {
      const text = line.replace(/<[^>]+>/g, ''), spaces = text.match(/^ */)[0].length;
      const indent = far ? Math.min(spaces, before + 4) : spaces;
      if (indent === spaces) before = spaces;
      if (output && text === line)  // breaks first where its parts stand apart
        line = text.startsWith('[') ? line.replace(/(['"])(?:(?!\1).){1,24}\1/g, '<span class="together">$&</span>')  // a list's texts stay whole
          : line.replace(/\S+(?: \S+)*(?= {2})|(?<= {2})\S+(?: \S+)*/g, '<span class="part">$&</span>');
      line = line.replace(/(?<=\[<\/span>)(?:(?:<span class="o">-<\/span>)?<span class="m.">[^<]*<\/span><span class="p">,<\/span> ){1,3}/g,
        numbers => `<span class="together">${numbers}</span>`);  // a short row of numbers stays whole
      line = line.replace(/(?<= )--[\w-]+/g, '<span class="together">$&</span>');  // of a command
      line = line.replace(/^((?:<[^>]+>)*) +/, `$1${' '.repeat(indent)}`).replace(/(\)<\/span>)(<span class="o">\.<)/g, '$1<wbr>$2');
      if (RegExp(`\\S{${Math.max(8, 38 - indent)}}`).test(text))  // else within a name or a number
        line = line.replace(/(<span class="p">[^<]*[([{]<\/span>)/g, '$1<wbr>');
      return `<span class="line" style="--in: ${indent}">${line}\n</span>`;
    }).join('');
  }
  const phone = matchMedia('(max-width: 46em)'), WRAPPED = '.cell pre, .highlight-python pre, .highlight-sh pre, .highlight-default pre, .verdicts pre:not(.numbers), .question pre';

  // One empty line says as much as two.
  document.querySelectorAll('.cell_input pre').forEach(pre => {
    if (/\n{3,}/.test(pre.textContent)) pre.innerHTML = pre.innerHTML.replace(/\n{3,}/g, '\n\n');
  });

  // Code can be copied.
  document.querySelectorAll('.cell_input .highlight, .highlight-python .highlight, .highlight-sh .highlight').forEach(block => {
    const copy = document.createElement('button');
    Object.assign(copy, {className: 'copy', textContent: 'Copy', onclick: async () => {
      await navigator.clipboard.writeText(block.querySelector('pre').textContent);
      copy.textContent = 'Copied';
      setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
    }});
    block.append(copy);
  });

  // The still picture over a playground is for where no script runs.
  document.querySelectorAll('.cell_output .playground').forEach(playground => {
    const before = playground.closest('.output')?.previousElementSibling;
    if (before?.querySelector('img')) before.hidden = true;
  });

  // The phone's header has no search of its own.
  const find = document.createElement('a');
  Object.assign(find, {className: 'find-here', ariaLabel: 'Search', href: document.querySelector('[role="search"]').action});
  document.querySelector('.header-right').prepend(find);

  // Presenting: a button, and the key p. It goes screen by screen: as few as hold each part of the lesson, and evenly
  // filled, each below its heading. What is on others is not seen. Clickers send Page Down and Page Up. After the last
  // screen comes the next lesson.
  const root = document.documentElement;
  const room = () => 0.96 * innerHeight;
  const margin = () => innerHeight / 50;
  const SMALLEST = 0.9;
  const pieces = () => [...document.querySelectorAll('article section > :not(section)')]
    .flatMap(piece => piece.matches('.cell') && (piece.offsetHeight > room() || piece.querySelector('.cell_output:not(details *) img')) ? [...piece.children] : piece)
    .filter(piece => piece.offsetHeight);
  const box = piece => piece.getBoundingClientRect();
  const heading = piece => /^H[123]$/.test(piece?.tagName);
  const from = (one, other) => box(other).bottom - box(one).top;
  const running = Object.assign(document.createElement('p'), {className: 'running', ariaHidden: true});
  document.body.append(running);
  const over = piece => heading(piece) ? 0 : running.offsetHeight;  // the heading that goes on, above a piece
  const title = piece => [...piece.closest('section').querySelector('h1, h2, h3').childNodes]
    .map(part => part.matches?.('.headerlink') ? '' : part.textContent).join('');

  // Pictures are as large as leaves room for what leads to them.
  const resize = () => {
    const all = [...document.querySelectorAll('article .diagram svg, article .cell_output img')];
    all.forEach(picture => { picture.style.maxHeight = ''; });
    if (!root.classList.contains('presenting')) return;
    all.filter(picture => box(picture).height).forEach(picture => {
      const piece = picture.closest('.cell, .diagram'), {height} = box(picture), own = box(piece).height - height;
      let first = piece;
      while (!heading(first) && first.previousElementSibling) first = first.previousElementSibling;
      const last = piece.parentElement.lastElementChild, code = piece.firstElementChild.offsetHeight;
      const lead = room() - own - (box(piece).top - box(first).top);
      const tail = room() - (own - code) - (box(last).bottom - box(piece).bottom);
      const least = piece.matches('.diagram') ? [0.72, 0.72, 0.72] : [0.5, 0.62, 0.62];
      const high = [lead, room() - own, tail].find((one, at) => one > least[at] * innerHeight) ?? room() - own;
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
  // Letters have one size throughout a lesson; only what is a little too long for one screen is a little smaller.
  const shrink = shown => {
    const set = size => shown.forEach(piece => { piece.style.zoom = size; });
    for (const size of [1, 0.95, SMALLEST]) {
      set(size);
      if (from(shown[0], shown.at(-1)) <= room() - over(shown[0])) return;
    }
    if (shown.some(piece => piece.matches('.live, .playground') || piece.querySelector('.playground, .live')))  // a playground is used as a whole, and so is the model
      for (const size of [0.85, 0.8, 0.75, 0.7]) {
        set(size);
        if (from(shown[0], shown.at(-1)) <= room() - over(shown[0])) return;
      }
    if (from(shown[0], shown.at(-1)) > 1.05 * room()) set('');  // nothing helps
  };
  const show = (shown = ofScreen()) => {  // the pieces of a screen, or of a step: what is short stands a little lower
    kept = null;
    showAll();
    fit();
    running.textContent = heading(shown[0]) ? '' : title(shown[0]);
    running.style.left = `${box(shown[0].closest('section')).left}px`;
    shrink(shown);
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
    fit();
    resize();
    makeRoom();
    showAll();
    if (!presenting) return first?.scrollIntoView({behavior: 'instant'});
    size = `${innerWidth} ${innerHeight}`;
    starts = screens();
    at = begin ? (begin < 0 ? starts.length - 1 : 0) : Math.max(0, starts.findLastIndex(start => box(start).top <= box(first).top + 1));
    show();
  };
  addEventListener('load', () => {  // from another lesson's last screen, or first
    const step = location.hash.match(/^#presenting(-?1)$/)?.[1];
    if (!step) return;
    history.replaceState(null, '', location.pathname + location.search);
    present(Number(step));
    root.classList.remove('arriving');
  });
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
  new ResizeObserver(([{target}]) => {  // the model grows when it is brought to life, and stays whole
    if (!root.classList.contains('presenting') || target.closest('.elsewhere') || box(target).bottom <= innerHeight) return;
    const shown = ofScreen().filter(piece => !piece.matches('.elsewhere')), writing = document.activeElement;
    if (box(shown[0]).top < 0) return;  // scrolled by hand
    show(shown);
    writing.focus({preventScroll: true});
  }).observe(document.querySelector('.live') ?? document.createElement('div'));
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

  // What a link leads to is unfolded.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.matches('details.mistake')) target.open = true;
  };
  for (const kind of ['DOMContentLoaded', 'hashchange']) addEventListener(kind, unfold);

  // On paper nothing is folded.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach(details => { details.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach(details => { details.open = false; }));

  // Code has one size on a page: what is too wide goes on below. What still scrolls sideways can be reached, and so scrolled, by keyboard.
  // First all is measured, then all is changed: the other way round, the page would be laid out anew for each piece of code.
  const wide = element => Boolean(element.clientWidth && element.scrollWidth > element.clientWidth);
  const fitThese = some => {
    const formulas = some.filter(element => element.matches('.formula.wide'));
    formulas.forEach(formula => formula.classList.remove('wide'));
    const before = some.map(wide);
    some.forEach((element, at) => {
      if (element.matches('.formula')) element.classList.toggle('wide', before[at]);
      else if ((before[at] || phone.matches) && element.matches(WRAPPED)) wrap(element, before[at]);
    });
    some.map(wide).forEach((scrolls, at) => {
      if (scrolls) some[at].tabIndex = 0;
      else some[at].removeAttribute('tabindex');
      some[at].classList.toggle('scrolls', scrolls);
    });
  };
  const all = () => [...document.querySelectorAll('pre, .table-wrapper, .formula, .playground .numbers')];
  const fit = () => fitThese(all());  // at once, before it is presented

  // What a link from elsewhere leads to stays in its place while the page above it finds its height, until somebody scrolls.
  let left = false;
  for (const kind of ['wheel', 'touchstart', 'pointerdown', 'keydown']) addEventListener(kind, () => { left = true; }, {capture: true, passive: true});
  const stay = () => {
    if (left || location.hash.length < 2 || root.classList.contains('presenting')) return;
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({behavior: 'instant'});
  };
  addEventListener('load', stay, true);  // of pictures, too

  // Else piece by piece, what is on the screen first, so that the page answers meanwhile.
  const AT_ONCE = 6, idle = globalThis.requestIdleCallback ?? (work => setTimeout(work, 20));
  let waiting = [], fitting = false;
  const fitSoon = () => {
    const far = element => {
      const {top} = element.getBoundingClientRect();
      return top < 0 ? innerHeight - top : top;
    };
    waiting = root.classList.contains('presenting') ? all() : all().map(element => [far(element), element]).sort(([a], [b]) => a - b).map(([, element]) => element);
    root.classList.add('fitting');
    if (!fitting) fitting = Boolean(idle(fitOn, {timeout: 100}));
  };
  const fitOn = () => {
    const some = waiting.splice(0, root.classList.contains('presenting') ? Infinity : AT_ONCE);
    fitThese(some);
    stay();
    fitting = waiting.length > 0 && Boolean(idle(fitOn, {timeout: 100}));
    root.classList.toggle('fitting', fitting);
  };
  for (const kind of ['DOMContentLoaded', 'load', 'resize', 'change']) addEventListener(kind, fitSoon);
  addEventListener('toggle', fitSoon, true);

  // In prose (1, 2) stays on one line, as does 5 %, -2 has the sign that is as wide as a plus, and an apostrophe curls.
  const prose = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (prose.nextNode()) {
    const text = prose.currentNode;
    if (!/[(%'-]/.test(text.data) || text.parentElement.closest('pre, code, math, script, style, textarea, .playground, .attention-explorer, .live')) continue;
    text.data = curled(text.data).replace(/(?<=\d) %/g, '\u00a0%').replace(/\([-−\d., ]{3,20}\)/g, tuple => tuple.replaceAll(', ', ',\u00a0'))
      .replace(/(?<![\w)\][=])-(?=\.?\d)/g, '−');
  }

  // In a heading Multi-head stays whole, and a long name goes on after one of its underscores.
  document.querySelectorAll('article :is(h1, h2, h3)').forEach(heading => {
    const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.filter(text => /\w[-_]\w/.test(text.data) && !text.parentElement.closest('math, script, .headerlink')).forEach(text => {
      text.replaceWith(...text.data.split(/(?<=\w_)(?=\w)|(\w+(?:-\w+)+)/).filter(part => part !== undefined && part !== '').flatMap(part =>
        part.endsWith('_') ? [part, document.createElement('wbr')]
          : /\w-\w/.test(part) ? [Object.assign(document.createElement('span'), {className: 'whole', textContent: part})] : [part]));
    });
  });

  // What the list of parts cuts off, it says where a pointer rests.
  document.querySelectorAll('.toc-tree a').forEach(link => { link.title = link.textContent; });

  // A long name in a table or a list of contents goes on after an underscore, or before a capital.
  document.querySelectorAll(':is(article table, .toc-tree) code').forEach(code => {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.forEach(text => text.replaceWith(...text.data.split(/(?<=_)(?=\w)|(?<=[a-z])(?=[A-Z])/).flatMap((part, at) => at ? [document.createElement('wbr'), part] : [part])));
  });

  // Pictures are fetched once the text is there, and before a page is presented, which measures them.
  const fetchPictures = () => document.querySelectorAll('img[loading]').forEach(picture => { picture.loading = 'eager'; });
  if (location.hash.startsWith('#presenting')) fetchPictures();
  else addEventListener('load', () => setTimeout(fetchPictures, 1000));

  // The list of parts marks what has passed a third of the screen; the theme would wait until it has passed its header.
  const header = document.querySelector('header');
  if (header) header.getBoundingClientRect = () => ({top: 0, height: innerHeight / 3});
})();

// Questions whose answer is typed: a number or a shape. What is said of it stands in the form, encoded.
(() => {
  document.querySelectorAll('form.field').forEach(form => {
    const bytes = Uint8Array.from(atob(form.dataset.told), sign => sign.charCodeAt(0));
    const told = JSON.parse(new TextDecoder().decode(bytes)), said = form.querySelector('output');
    form.onsubmit = event => {
      event.preventDefault();
      const value = answers.read(told, form.elements.answer.value);
      if (value === null) {
        said.className = '';
        said.textContent = `○ ${answers.form(told)}`;
        return;
      }
      const {right, why} = answers.judge(told, value);
      said.className = right ? 'right' : 'wrong';
      said.innerHTML = `${right ? '✓ Right.' : '✗ No.'} ${curled(why)}`;
    };
  });
})();

// A diagram or a figure opens larger: as large as the screen, or, where that is not much, twice as large as on the page,
// to be moved about.
(() => {
  const screen = document.createElement('dialog');
  screen.className = 'enlarged';
  screen.innerHTML = '<button aria-label="Close">×</button><div tabindex="0"></div>';
  screen.onclick = event => { if (!event.target.closest('img, svg')) screen.close(); };
  document.addEventListener('click', event => {
    const link = event.target.closest?.('a.zoom');
    const figure = event.target.closest?.('.cell_output :is(img, a.image-reference), section > p:not(.diagram) > img')?.closest('a, img');
    if (!(link || figure) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const shown = link ? [...link.children].find(one => one.getBoundingClientRect().width) : figure.querySelector('img') ?? figure;
    const picture = shown.cloneNode(true), {width: here, height} = shown.getBoundingClientRect();
    const fits = Math.min(innerWidth - 48, (innerHeight - 120) * here / height);
    const presenting = document.documentElement.classList.contains('presenting');  // then all of it is to be seen
    picture.style.maxHeight = 'none';
    picture.style.width = `${fits < 1.25 * here && !presenting ? 2 * here : fits}px`;
    screen.querySelector('div').replaceChildren(picture);
    if (!screen.isConnected) document.body.append(screen);
    screen.showModal();
  });
})();
