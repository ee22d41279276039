// The picture at the top of the start page: a text as one line, above each token its place in every layer, and lines to the newest
// token from those that a head of each layer reads. The recording below draws in it, and the model itself once it is alive.
globalThis.strip = flow => {
  const {levels, heads} = JSON.parse(flow.dataset.flow), layers = levels.length - 1, MARGIN = 46, NARROWEST = 11;
  const [loom, ribbon, dots, stream, out, nodes, line] = ['.loom', '.ribbon', '#row', '.stream', '.out', '.nodes', '.words'].map(part => flow.querySelector(part));
  const reads = [...flow.querySelectorAll('.reads')], names = [...flow.querySelectorAll('.level')].reverse();
  const pen = document.createElement('canvas').getContext('2d'), widths = new Map(), sign = word => word.replace(/\n/g, '⏎');
  let wide = 0, last = null;

  function middles(words) {  // where each token stands: the middle of the room that it takes
    pen.font = `16px ${getComputedStyle(line).fontFamily}`;
    let end = 0;
    return words.map(word => {
      if (!widths.has(word)) widths.set(word, Math.max(pen.measureText(sign(word)).width, NARROWEST));
      end += widths.get(word);
      return Math.round(end - widths.get(word) / 2);
    });
  }

  function change(element, text, write) {  // only what differs is drawn anew
    if (element.shown_ === text) return;
    element.shown_ = text;
    write(text);
  }

  // words, and x, where they stand; the first `prompt` are bold. The token has come up to a level, and what may follow is read there if it
  // leaves. weight(layer, head, key) is told of the heads in `own`, and `now` is the layer that reads.
  function draw(state) {
    last = state;
    if (!wide) return;
    const {words, x, prompt, token, level, leaves, own, weight, now = -1} = state;
    const left = Math.min(-MARGIN - x[token], Math.min(wide / 4, 150) - wide);  // from the left, until the line is full
    const seen = x.flatMap((place, at) => at <= token && place + left > -wide ? [at] : []), reached = levels.slice(0, level + 1), to = x[token];
    ribbon.dataset.token = token;
    ribbon.style.setProperty('--x', `${left}px`);
    change(line, seen.map(at => `${x[at]} ${words[at]} ${at < prompt}`).join(), () => line.replaceChildren(...seen.map(at => {
      const text = document.createElementNS(line.namespaceURI, 'text');
      text.setAttribute('x', x[at]);
      text.setAttribute('class', `${at < prompt ? 'prompt' : ''} ${at === token ? 'query' : ''}`);
      text.textContent = sign(words[at]);
      return text;
    })));
    dots.setAttribute('d', seen.map(at => `M${x[at]} 0h0`).join(''));
    reads.forEach((group, layer) => {
      const low = levels[layer], high = levels[layer + 1], middle = (low + high) / 2;
      names[layer].classList.toggle('now', layer === now);
      names[layer].lastElementChild.textContent = `, head ${own[layer]}`;
      const lines = layer >= level ? '' : seen.map(at => {
        const root = Math.sqrt(weight(layer, own[layer], at));
        return root > 0.07 && `<path pathLength="1" style="--w:${root.toFixed(2)}" d="M${x[at]} ${low}C${x[at]} ${middle} ${to} ${middle} ${to} ${high}"/>`;
      }).filter(Boolean).join('');
      change(group, lines, () => { group.innerHTML = lines; });
    });
    stream.setAttribute('d', `M${to} ${levels[0]}V${reached.at(-1)}`);
    change(nodes, `${to} ${level}`, () => { nodes.innerHTML = reached.map(y => `<circle cx="${to}" cy="${y}" r="4.5"/>`).join(''); });
    out.setAttribute('d', leaves ? `M${to} ${reached.at(-1)}H${-left}` : '');
  }

  new ResizeObserver(([{contentRect: {width, height}}]) => {
    wide = width / height * loom.firstElementChild.viewBox.baseVal.height;
    if (last) draw(last);
  }).observe(loom);
  return {draw, middles, layers, heads, get wide() { return wide; }};
};

// The recording: token after token goes up through the layers, and the chances at the top give the next one. What was computed comes
// from start.js: weight(head, query, key), and draw, which draws the text, the heads and the bars.
globalThis.recording = (root, picture, {weight, tokens, heads, squares, draw}) => {
  const flow = root.querySelector('.flow'), {x, drawn, first} = JSON.parse(flow.dataset.flow), button = flow.querySelector('.pause');
  const rows = [...root.querySelectorAll('.grid .row')], words = tokens.map(token => token.textContent), last = tokens.length - 1;
  const {layers, heads: readers} = picture, RUNS = 3, REST = 4000, WAITS = [300, ...Array(layers - 1).fill(200), 480, 340];  // at each level, in ms
  let run = null;  // how far it has come: {token, level}; at level n, n layers have read, and after the last one the next token is chosen
  let plays = false, seen = true, timer = 0, runs = 0;

  const show = ({token, level, own = readers}) => {
    const now = run && level <= layers ? level - 1 : -1;  // the layer that reads
    for (let layer = 0; layer < layers; layer++)
      for (const one of [rows[layer], squares[layer * heads + readers[layer]]]) one.classList.toggle('now', layer === now);
    picture.draw({words, x, prompt: first + 1, token, level: Math.min(level, layers), leaves: level >= layers, own, now,
      weight: (layer, head, key) => weight(layer * heads + head, token, key)});
  };
  const showStill = (token, own) => show({token, level: layers, own: Object.assign([...readers], own)});  // for a layer another head than the recording's

  // --- the clock: slowly at first, then faster; a few times, and then it rests ---

  const begin = () => {  // where the line is nearly full, and the word that comes is a likely one
    const full = picture.wide ? x.findIndex(place => place > 0.85 * picture.wide) : -1;  // none: the line is longer than the text, or not yet measured
    let token = beforeWord(Math.max(first, Math.min(full < 0 ? last : full, Math.round(0.7 * last))));
    while (drawn[token] < 0.3) token = beforeWord(token + 1);
    return {token, level: 0};
  };

  function go() {
    clearTimeout(timer);
    if (!plays || !seen || document.hidden) return;
    const pace = (0.5 + 0.8 * Math.exp((begin().token - run.token) / 9)) * (drawn[run.token] > 0.8 ? 0.5 : 1);  // what is certain passes quickly
    timer = setTimeout(step, over() ? REST : pace * WAITS[run.level]);
  }
  const over = () => run.token === last && run.level === layers;
  const beforeWord = token => {  // a space between two words is written without a stop: what comes next is more interesting
    while (token < last && words[token + 1] === ' ') token++;
    return token;
  };

  function step() {
    if (over() && ++runs === RUNS) return end();
    run = over() ? begin() : run.level > layers ? {token: beforeWord(run.token + 1), level: 0} : {token: run.token, level: run.level + 1};
    draw();
    show(run);
    go();
  }

  function play() {
    plays = true;
    if (!run) [run, runs] = [begin(), 0];
    root.classList.add('writing');
    button.textContent = 'Pause';
    draw();
    show(run);
    go();
  }

  function pause() {
    plays = false;
    clearTimeout(timer);
    button.textContent = 'Play';
  }

  function end() {  // its last picture
    if (!run) return;
    pause();
    run = null;
    root.classList.remove('writing');
    button.textContent = 'Play again';
    draw();
  }

  button.hidden = false;
  button.textContent = 'Play';
  button.onclick = () => { plays ? pause() : play(); };
  document.addEventListener('visibilitychange', go);
  addEventListener('beforeprint', end);
  new IntersectionObserver(([{isIntersecting}]) => {
    seen = isIntersecting;
    go();
  }).observe(flow);
  return {play, end, layers, drawn, showStill, get run() { return run; }};
};
