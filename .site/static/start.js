// The start page: a text that the model wrote, the model itself, which a press brings to life, and the opening that moves.
(() => {
  // The still picture answers, too, before anything of the model is loaded: its maps hold every weight, in eight steps.
  function answer(root, picture) {
    const grid = root.querySelector('.grid'), text = root.querySelector('.text'), next = root.querySelector('.next'), likely = root.querySelector('.likely');
    const tokens = [...text.querySelectorAll('.token')], squares = [...grid.querySelectorAll('.head')], count = tokens.length;
    const heads = Number(grid.style.getPropertyValue('--heads')), note = root.querySelector('.told');
    const make = (kind, properties, parent) => parent.appendChild(Object.assign(document.createElement(kind), properties));
    const chosen = {head: squares.findIndex(square => square.matches('.chosen')), token: count - 1};
    let over = {}, weights = null, temperature = null, film = null;  // film: the recording above it
    const nameOf = token => ({' ': 'a space', '\n': 'a new line', '\'': 'an apostrophe', '’': 'an apostrophe', '"': 'a quotation mark', '“': 'a quotation mark', '”': 'a quotation mark'})[token.textContent] ?? `“${token.textContent.replace(/\n/g, '⏎')}”`;
    const placed = at => {  // which space it is: the one after a word
      const name = nameOf(tokens[at]), before = at && nameOf(tokens[at - 1]);
      return !name.startsWith('a ') ? name : before && !before.startsWith('a ') ? `the ${name.slice(2)} after ${before}` : name;
    };
    const capital = words => words[0].toUpperCase() + words.slice(1);
    const {names, ...heat} = JSON.parse(likely.dataset.heat), words = names.split('|'), rows = [...likely.querySelectorAll('.candidate')];
    const weight = (head, query, key) =>  // of one head's part of the picture, where opacity is the weight's root
      (weights[4 * ((Math.floor(head / heads) * count + query) * heads * count + head % heads * count + key) + 3] / 255) ** 2;

    function draw() {
      const run = film.run, {head, token} = {...chosen, ...(run ? {token: run.token} : over)}, layer = Math.floor(head / heads);
      const reached = !run || run.level > layer, whole = !run || run.level >= film.layers;
      likely.classList.toggle('waits', !whole);
      const row = tokens.map((_, key) => key > token || !reached ? 0 : weight(head, token, key));
      tokens.forEach((one, key) => {
        one.style.setProperty('--dark', Math.sqrt(row[key]));
        one.classList.toggle('query', key === token);
        one.ariaSelected = String(key === chosen.token);
        one.tabIndex = key === chosen.token ? 0 : -1;
        one.style.visibility = run && key > token ? 'hidden' : '';
      });
      squares.forEach((square, number) => square.classList.toggle('chosen', number === head));
      if (whole) grid.style.setProperty('--zoom', run ? count / (token + 1) : 1);  // what is written so far fills the squares
      if (!reached) return;
      const most = row.map((share, key) => [share, key]).filter(([share]) => share > 0.03).sort(([a], [b]) => b - a).slice(0, 3);
      const looks = most.map(([, key]) => placed(key)).join(', ') || 'many tokens a little';
      note.textContent = `${capital(placed(token))} looks at ${looks} in layer ${layer}, head ${head % heads}.`;
      if (whole) drawBars(token);
      if (!run) film.showStill(token, {[layer]: head % heads});
    }

    const percent = share => share >= 0.0995 ? `${Math.round(100 * share)} %` : share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : share > 0 ? '<0.1 %' : '0 %';
    const likeliest = (token, at) => heat.logits[token].map((logit, place) => [  // softmax of the logits over the temperature;
      words[heat.best[token][place]], at ? Math.exp((logit / at * 10 - heat.sums[token][at - 1]) / 1000) : Number(!place)]);  // the sums of all powers are known

    function drawBars(token) {
      const all = likeliest(token, Number(temperature.value)), chosen = film.run ? film.run.level > film.layers : token < count - 1;
      likely.querySelector('h2').textContent = token === count - 1 || film.run ? 'The next token' : `After ${nameOf(tokens[token])}`;
      const next = tokens[token + 1]?.textContent, name = next && ({' ': 'space', '\n': 'new line'}[next] ?? next.replace(/\n/g, '⏎').replace(/ /g, '␣'));
      const seen = rows.filter(row => row.offsetHeight).length;  // fewer on a phone
      if (name && temperature.value === '8' && !all.slice(0, seen).some(([word]) => word === name)) all.splice(Math.max(0, seen - 1), 1, [name, film.drawn[token]]);  // less likely, and yet it was drawn
      rows.forEach((row, place) => {
        const [word, share] = all[place];
        row.classList.toggle('taken', chosen && word === name);
        row.querySelector('b').textContent = word;
        row.querySelector('i').style.transform = `scaleX(${share})`;
        row.querySelector('.share').textContent = percent(share);
      });
    }

    function begin() {
      text.role = 'listbox';
      text.ariaLabel = 'A text that the model wrote, token by token: arrow keys move';
      text.tabIndex = -1;
      tokens.forEach(token => Object.assign(token, {role: 'option', ariaLabel: nameOf(token).replace(/^an? |[“”]/g, '')}));
      Object.assign(grid, {role: 'radiogroup', ariaLabel: 'Attention heads, a row for each layer'});
      squares.forEach((square, number) => {
        const label = document.createElement('label');
        label.className = square.className;
        label.append(...square.childNodes);
        make('input', {type: 'radio', name: 'still-head', checked: number === chosen.head, onchange: () => { film.end(); chosen.head = number; draw(); },
          ariaLabel: `Layer ${Math.floor(number / heads)}, head ${number % heads}`}, label);
        square.replaceWith(label);
        squares[number] = label;
      });
      root.querySelector('.attention p').textContent += ' Choose one, and it shades the text.';
      root.classList.add('answers');
      warm();
      text.onclick = event => look(tokens.indexOf(event.target.closest('.token')));
      text.onkeydown = event => {
        const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -count, End: count}[event.key];
        if (!step) return;
        event.preventDefault();
        look(Math.min(Math.max(chosen.token + step, 0), count - 1));
        tokens[chosen.token].focus({preventScroll: true});
      };
      root.addEventListener('pointerover', event => {  // what a mouse is over shows itself
        if (event.pointerType !== 'mouse' || film.run || !root.matches('.resting')) return;
        const token = tokens.indexOf(event.target.closest('.token')), head = squares.indexOf(event.target.closest('.head'));
        over = token >= 0 ? {token} : head >= 0 ? {head} : {};
        draw();
      });
      root.addEventListener('pointerleave', () => {
        if (film.run || !root.matches('.resting')) return;
        over = {};
        draw();
      });
      film = recording(root, picture, {weight, tokens, heads, squares, draw});
      draw();
    }

    function look(token) {
      if (token < 0) return;
      film.end();
      chosen.token = token;
      draw();
    }

    function warm() {
      const sliders = document.createElement('div');
      sliders.className = 'sliders';
      next.prepend(sliders);
      const label = make('label', {textContent: 'Temperature '}, sliders), shown = make('output', {textContent: '0.80'}, label);
      temperature = make('input', {type: 'range', min: 0, max: heat.sums[0].length, step: 1, value: 8, oninput: () => {
        film.end();
        shown.textContent = (temperature.value / 10).toFixed(2);
        temperature.setAttribute('aria-valuetext', shown.textContent);
        draw();
      }}, label);
      temperature.value = 8;
      temperature.setAttribute('aria-valuetext', '0.80');
    }

    const maps = new Image();
    maps.onload = () => {
      if (!root.matches('.resting')) return;
      const pen = Object.assign(document.createElement('canvas'), {width: maps.width, height: maps.height}).getContext('2d');
      pen.drawImage(maps, 0, 0);
      weights = pen.getImageData(0, 0, maps.width, maps.height).data;
      begin();
      if (!matchMedia('(prefers-reduced-motion: reduce)').matches) film.play();
    };
    maps.src = grid.style.getPropertyValue('--maps').replace(/^\s*url\(["']?|["']?\)\s*$/g, '');
    return {end: () => film?.end(), get temperature() { return temperature ? temperature.value / 10 : 0.8; }};
  }

  const root = document.querySelector('.live[data-folder]'), form = root?.querySelector('form');
  if (!form) return;
  const line = form.elements.line, button = form.querySelector('button'), status = root.querySelector('[role="status"]');
  const told = status.textContent, flow = root.querySelector('.flow'), picture = strip(flow), still = answer(root, picture), parts = Number(root.dataset.parts);
  const load = name => new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: root.dataset.folder + name, onload: done, onerror: failed})));

  form.onsubmit = async event => {  // nothing of the model is loaded before this
    event.preventDefault();
    button.disabled = true;
    const bar = Object.assign(document.createElement('progress'), {max: parts + 1, value: 0, ariaLabel: 'The model is being loaded'});
    status.replaceChildren('Loading the model … ', bar);
    try {
      globalThis.lessonsParts = [];  // of an earlier try that failed
      for (const name of ['model.js', 'tokens.js', 'live.js']) await load(name);
      for (let part = 0; part < parts; bar.value = ++part) await load(`weights-${part}.js`);
    } catch {
      button.disabled = false;
      status.textContent = 'The model could not be loaded: is there a connection? Press to try again.';
      return;
    }
    const loaded = lessons.readModel(lessons.fromBase64(globalThis.lessonsParts));
    delete globalThis.lessonsParts;
    still.end();
    root.classList.remove('resting', 'answers');
    flow.querySelector('.pause').remove();
    flow.querySelector('strong').textContent = 'Your own line, read here and now.';
    lessons.showing = lessons.show(root, loaded, line.value, still.temperature, root.dataset.dice.split(' ').map(Number), picture);
    if (!document.documentElement.matches('.presenting')) root.querySelector('input').focus({preventScroll: true});  // else the next key is for the screen
  };
  status.textContent = told;
})();

(() => {
  const opening = document.querySelector('.opening');
  if (!opening || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const steps = [...opening.querySelectorAll('li')], presenting = () => document.documentElement.matches('.presenting');
  const places = document.createElement('div');
  places.className = 'places';
  const buttons = steps.map((step, number) => {
    const button = Object.assign(document.createElement('button'), {type: 'button', textContent: number + 1, ariaLabel: `Step ${number + 1}: ${step.querySelector('strong').textContent}`});
    button.onclick = () => {
      if (presenting()) return show(number + 1);
      const {top} = step.getBoundingClientRect();
      const wanted = small() ? opening.querySelector('.scene').offsetHeight + 64 : line() - 60;  // on a phone, below the picture
      scrollTo({top: scrollY + top - wanted, behavior: 'smooth'});
    };
    step.style.setProperty('--at', number + 1);
    places.append(button);
    return button;
  });
  opening.querySelector('.scene').append(places);
  opening.classList.add('moves');
  const small = () => innerWidth < 740, line = () => innerHeight * (small() ? 0.84 : 0.6);
  const show = number => {
    opening.dataset.step = number;
    steps.forEach((step, at) => step.classList.toggle('current', at + 1 === number));
    buttons.forEach((button, at) => { button.ariaCurrent = at + 1 === number ? 'step' : null; });
  };
  const follow = () => {
    if (presenting()) return;
    show(Math.max(1, steps.filter(step => step.getBoundingClientRect().top < line()).length));
  };
  addEventListener('scroll', follow, {passive: true});
  addEventListener('resize', follow);
  let before = presenting();
  new MutationObserver(() => {
    if (before !== (before = presenting())) before ? show(1) : follow();
  }).observe(document.documentElement, {attributeFilter: ['class']});
  addEventListener('present-step', event => {  // a clicker goes through the steps before it leaves their screen
    const now = Number(opening.dataset.step), next = now + event.detail;
    if (opening.closest('.elsewhere') || next < 1 || next > steps.length) return;
    event.preventDefault();
    show(next);
  });
  follow();
})();

// Weights that are typed: known mistakes, run on the same scores as the page was made, are named as the check names them.
(() => {
  const form = document.querySelector('form.by-hand');
  if (!form) return;
  const {right, mistakes} = JSON.parse(form.dataset.known), said = form.querySelector('[role="status"]');
  const near = (typed, numbers) => typed.every((number, at) => Math.abs(number - numbers[at]) < 0.006);
  form.onsubmit = event => {
    event.preventDefault();
    const typed = [...form.elements.weight].map(({value}) => value.trim() ? Number(value.replace(',', '.').replace('−', '-')) : NaN);
    const mistake = mistakes.find(([,, , all]) => all.some(numbers => near(typed, numbers))), sum = typed.reduce((sum, one) => sum + one, 0);
    said.className = typed.some(Number.isNaN) ? '' : `verdict ${near(typed, right) ? 'right' : 'wrong'}`;
    said.innerHTML = typed.some(Number.isNaN) ? '<p>○ Type a number for each of the three weights, such as 0.33.</p>'
      : near(typed, right) ? '<p>✓ softmax</p><p>These are the weights, and they sum to 1, up to rounding. In lesson 1 you write it in Python.</p>'
        : mistake ? curled(`<p>✗ softmax: ${mistake[0]}.</p><p>${mistake[1]}</p><p>Where to look: ${mistake[2]}</p>`)
          : `<p>✗ softmax: these are not the weights.</p><p>No mistake known here gives these numbers.</p><p>Where to look: they sum to ${Math.abs(sum - 1) < 0.015
            ? '1, up to rounding, as they should. What is <i>e</i> to the power of each score, and what share of the sum is that?' : `${sum.toFixed(2).replace('-', '−')}: which sum should they have?`}</p>`;
    if (!document.documentElement.matches('.presenting'))  // there, the screen sees to it
      said.scrollIntoView({block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'});
  };
})();

// Presenting is a script of its own, fetched when somebody asks for it: with the button, the key, or from another page.
(() => {
  const button = document.querySelector('button.present');
  let asked = false;
  const ask = then => {
    if (asked) return;
    asked = true;
    document.head.append(Object.assign(document.createElement('script'), {src: '_static/presenting.js', onload: then}));
  };
  button.hidden = false;
  const begin = () => ask(() => present());
  button.onclick = begin;
  addEventListener('keydown', event => {
    if (event.key === 'p' && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest?.('input, select, textarea, .playground, dialog')) begin();
  });
  if (location.hash.startsWith('#presenting')) ask();
})();
