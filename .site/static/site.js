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

  const root = document.documentElement;

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
  globalThis.fitAll = () => fitThese(all());  // at once, before it is presented

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
