// Small things that style sheets cannot do.
(() => {
  // On a phone long lines go on below, indented as they are, and not out of sight; but columns of numbers stay columns.
  if (matchMedia('(max-width: 46em)').matches)
    document.querySelectorAll('.cell pre, .highlight-python pre, .verdicts pre:not(.numbers)').forEach(pre => {
      const output = pre.closest('.cell_output');
      const rows = output ? pre.textContent.match(/^(?:.*\S {2,}\S| *(?:\[|array|tensor))/gm)?.length ?? 0 : 0;
      if (rows > 1 && rows >= pre.textContent.match(/^.*\S/gm).length / 2) return;
      pre.querySelectorAll('.c1').forEach(remark => remark.classList.toggle('short', remark.textContent.length < 30));
      const far = /^ {9,}.{30}/m.test(pre.textContent);  // what stands below a bracket far to the right moves to the left
      let before = 0;
      pre.innerHTML = pre.innerHTML.replace(/<span><\/span>|\n$/g, '').split('\n').map(line => {
        const text = line.replace(/<[^>]+>/g, ''), spaces = text.match(/^ */)[0].length;
        const indent = far ? Math.min(spaces, before + 4) : spaces;
        if (indent === spaces) before = spaces;
        if (output && text === line)  // breaks first where its parts stand apart
          line = line.replace(/\S+(?: \S+)*(?= {2})|(?<= {2})\S+(?: \S+)*/g, '<span class="part">$&</span>');
        line = line.replace(/^((?:<[^>]+>)*) +/, `$1${' '.repeat(indent)}`).replace(/(\)<\/span>)(<span class="o">\.<)/g, '$1<wbr>$2');
        if (RegExp(`\\S{${Math.max(8, 38 - indent)}}`).test(text))  // else within a name or a number
          line = line.replace(/(<span class="p">[^<]*[([{]<\/span>)/g, '$1<wbr>');
        return `<span class="line" style="--in: ${indent}">${line}\n</span>`;
      }).join('');
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

  // Presenting: a button, and the key p; what was at the top stays there. n and b go to the next part, or by a
  // screen to what is cut there, and back; Escape leaves.
  const present = () => {
    const first = [...document.querySelectorAll('article :is(h1, h2, h3, p, .cell, .question)')]
      .find(element => element.offsetHeight && element.getBoundingClientRect().top >= 0);
    document.documentElement.classList.toggle('presenting');
    fit();
    first?.scrollIntoView({behavior: 'instant'});
    document.activeElement.blur();
  };
  document.querySelectorAll('button.present').forEach(button => {
    button.hidden = false;
    button.onclick = present;
  });
  addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.('input, select, .playground, .attention-explorer, dialog')) return;
    const presenting = document.documentElement.classList.contains('presenting');
    if (event.key === 'p' || event.key === 'Escape' && presenting) present();
    if (!presenting || !'nb'.includes(event.key)) return;
    const on = event.key === 'n', step = on ? 1 : -1;
    const places = (what, end) => [...document.querySelectorAll(what)].filter(element => element.offsetHeight)
      .map(element => element.getBoundingClientRect()[end] - innerHeight / 50);
    const parts = places('article :is(h1, h2, h3)', 'top');
    const part = on ? parts.find(top => top > 2) : parts.findLast(top => top < -2);
    const whole = 'article section > :is(p, ul, ol, .formula, .question, details), article .cell:not(:has(img)), article .cell:has(img) > div';
    const ends = places(whole, 'bottom');
    const cut = places(whole, 'top').find((top, number) => on ? ends[number] > 0.98 * innerHeight : top > -0.95 * innerHeight);
    const by = Math.abs(part) < innerHeight ? part : cut * step > 40 && cut < innerHeight ? cut : 0.85 * innerHeight * step;
    scrollBy({top: by, behavior: 'instant'});
  });

  // On paper nothing is folded.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach(details => { details.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach(details => { details.open = false; }));

  // Code that is a little too wide gets smaller letters. What still scrolls sideways can be reached, and so scrolled, by keyboard.
  const fit = () => {
    const all = [...document.querySelectorAll('pre, .table-wrapper, .formula')];
    all.forEach(element => { element.style.fontSize = ''; });
    const wide = element => element.clientWidth && element.scrollWidth > element.clientWidth;
    all.filter(element => element.tagName === 'PRE' && wide(element)).map(pre => {
      const style = getComputedStyle(pre), sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
      return [pre, style.fontSize, (pre.clientWidth - sides) / (pre.scrollWidth - sides)];
    }).filter(([,, part]) => part > 0.8).forEach(([pre, size, part]) => { pre.style.fontSize = `${(part - 0.005) * parseFloat(size)}px`; });
    all.forEach(element => {
      if (wide(element)) element.tabIndex = 0;
      else element.removeAttribute('tabindex');
      element.classList.toggle('scrolls', Boolean(wide(element)));
    });
  };
  addEventListener('load', fit);
  addEventListener('resize', fit);
  addEventListener('change', fit);
  addEventListener('toggle', fit, true);

  // In prose (1, 2) stays on one line, and -2 has the sign that is as wide as a plus.
  const prose = document.createTreeWalker(document.querySelector('article') ?? document.body, NodeFilter.SHOW_TEXT);
  while (prose.nextNode()) {
    const text = prose.currentNode;
    if (!/[(-]/.test(text.data) || text.parentElement.closest('pre, code, math, script, style, .playground, .attention-explorer')) continue;
    text.data = text.data.replace(/\([-−\d., ]{3,20}\)/g, tuple => tuple.replaceAll(', ', ',\u00a0'))
      .replace(/(?<![\w)\][=])-(?=\.?\d)/g, '−');
  }

  // The list of parts marks what has passed a third of the screen; the theme would wait until it has passed its header.
  const header = document.querySelector('header');
  if (header) header.getBoundingClientRect = () => ({top: 0, height: innerHeight / 3});
})();

// Questions whose answer is typed: a number or a shape. What is said of it stands in the form, encoded.
(() => {
  const same = (told, one, other) => told.shape ? String(one) === String(other)
    : Math.abs(one - other) <= Math.max(1e-9 * Math.max(Math.abs(one), Math.abs(other)), told.tolerance);

  function shape(text) {
    if (!/^[\s\d,x×()[\]]*$/.test(text) || !/\d/.test(text)) return null;
    return text.match(/\d+/g).map(Number);
  }

  function number(text) {  // plain arithmetic: 1/4, 25 %, 10^-6, 4*512*513, ln 8
    const signs = {'−': '-', '–': '-', '×': '*', '·': '*', '÷': '/', '^': '**'};
    let rest = text.toLowerCase().replace(/[−–×·÷^]/g, sign => signs[sign]).replace(/(\d)[ ,](?=\d{3}(?!\d))/g, '$1').replace(/\s+/g, '');
    const percent = rest.endsWith('%');
    if (percent) rest = rest.slice(0, -1);
    const take = pattern => {
      const found = rest.match(pattern);
      if (found) rest = rest.slice(found[0].length);
      return found?.[0];
    };
    const atom = () => {
      const name = take(/^(ln|log|sqrt|exp)/);
      if (name) return {ln: Math.log, log: Math.log, sqrt: Math.sqrt, exp: Math.exp}[name](atom());
      if (take(/^\(/)) {
        const inside = sum();
        return take(/^\)/) ? inside : NaN;
      }
      return parseFloat(take(/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/) ?? 'none');
    };
    const power = () => {
      const base = atom();
      return take(/^\*\*/) ? base ** signed() : base;
    };
    const signed = () => take(/^-/) ? -signed() : (take(/^\+/), power());
    const product = () => {
      let value = signed();
      for (let sign; (sign = take(/^(\*(?!\*)|\/)/));) value = sign === '*' ? value * signed() : value / signed();
      return value;
    };
    const sum = () => {
      let value = product();
      for (let sign; (sign = take(/^[+-]/));) value = sign === '+' ? value + product() : value - product();
      return value;
    };
    const value = sum() / (percent ? 100 : 1);
    return rest || !Number.isFinite(value) ? null : value;
  }

  document.querySelectorAll('form.field').forEach(form => {
    const bytes = Uint8Array.from(atob(form.dataset.told), sign => sign.charCodeAt(0));
    const told = JSON.parse(new TextDecoder().decode(bytes)), said = form.querySelector('output');
    form.onsubmit = event => {
      event.preventDefault();
      const text = form.elements.answer.value.trim(), value = told.shape ? shape(text) : number(text);
      if (value === null) {
        said.className = '';
        said.textContent = told.shape ? '○ A shape is a list of whole numbers, as in (2, 3).' : '○ Please type a number, with a decimal point if it has one, as in 0.25.';
        return;
      }
      const right = same(told, value, told.right), slip = told.slips.find(([slip]) => same(told, value, slip));
      said.className = right ? 'right' : 'wrong';
      said.innerHTML = right ? `✓ Right. ${told.why}` : `✗ No. ${slip ? slip[1] : told.pointer}`;
    };
  });
})();

// A diagram or a figure opens larger: as large as the screen, or twice as large as on the page, to be moved about.
(() => {
  const screen = document.createElement('dialog');
  screen.className = 'enlarged';
  screen.innerHTML = '<button aria-label="Close">×</button><div tabindex="0"></div>';
  screen.onclick = event => { if (event.target.tagName !== 'IMG') screen.close(); };
  document.addEventListener('click', event => {
    const link = event.target.closest?.('a.zoom');
    const figure = event.target.closest?.('.cell_output :is(img, a.image-reference)')?.closest('a, img');
    if (!(link || figure) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const shown = link ? [...link.querySelectorAll('img')].find(one => one.width) : figure.querySelector('img') ?? figure;
    const picture = shown.cloneNode(), here = shown.getBoundingClientRect().width;
    picture.src = shown.currentSrc;
    const fits = Math.min(innerWidth - 48, (innerHeight - 120) * shown.naturalWidth / shown.naturalHeight);
    picture.style.width = `${fits < 1.25 * here ? 2 * here : fits}px`;
    screen.querySelector('div').replaceChildren(picture);
    if (!screen.isConnected) document.body.append(screen);
    screen.showModal();
  });
})();
