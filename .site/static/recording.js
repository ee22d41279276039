// The recording on the start page: token after token goes up through the layers, lines show what a head of each layer reads, and
// the chances at the top give the next token. What was computed comes from start.js: weight(head, query, key), likeliest(token,
// temperature in tenths), and draw, which draws the text, the heads and the bars below it.
globalThis.recording = (root, {weight, likeliest, percent, tokens, heads, squares, draw}) => {
  const flow = root.querySelector('.flow'), {x, levels, heads: readers, drawn, first} = JSON.parse(flow.dataset.flow);
  const [loom, ribbon, dots, stream, out, nodes, likely, button] =
    ['.loom', '.ribbon', '#row', '.stream', '.out', '.nodes', '.likely', '.pause'].map(part => flow.querySelector(part));
  const reads = [...flow.querySelectorAll('.reads')], signs = [...ribbon.querySelectorAll('text')], bars = [...likely.querySelectorAll('li')];
  const names = [...flow.querySelectorAll('.level')].reverse(), rows = [...root.querySelectorAll('.grid .row')];
  const layers = reads.length, last = tokens.length - 1, margin = parseFloat(ribbon.style.getPropertyValue('--x')) + x[last];
  const RUNS = 3, REST = 4000, WAITS = [300, ...Array(layers - 1).fill(200), 480, 340];  // at each level, in ms
  let run = null;  // how far it has come: {token, level}; at level n, n layers have read, and after the last one the next token is chosen
  let plays = false, seen = true, timer = 0, runs = 0;
  let left = 0, wide = 0;  // of the line of text: how far it has moved, and how much of it is seen
  let still = {token: last, own: readers};

  // --- what is drawn ---

  function place(token) {  // the line: from the left, until it is full
    if (ribbon.dataset.token === String(token)) return;
    ribbon.dataset.token = token;
    left = Math.min(margin - x[token], Math.min(wide / 4, 150) - wide);
    ribbon.style.setProperty('--x', `${left}px`);
    dots.setAttribute('d', x.slice(0, token + 1).map(x => `M${x} 0h0`).join(''));
    signs.forEach((sign, at) => {
      sign.classList.toggle('query', at === token);
      sign.style.display = at > token ? 'none' : '';
    });
  }

  function lines(layer, head, token) {
    const low = levels[layer], high = levels[layer + 1], middle = (low + high) / 2, to = x[token];
    return x.slice(0, token + 1).map((from, key) => {
      const root = Math.sqrt(weight(layer * heads + head, token, key));
      return root && `<path pathLength="1" style="--w:${root.toFixed(2)}" d="M${from} ${low}C${from} ${middle} ${to} ${middle} ${to} ${high}"/>`;
    }).filter(Boolean).join('');
  }

  function show({token, level, own = readers}) {
    const now = run && level <= layers ? level - 1 : -1;  // the layer that reads
    place(token);
    reads.forEach((group, layer) => {
      for (const one of [names[layer], rows[layer], squares[layer * heads + readers[layer]]]) one.classList.toggle('now', layer === now);
      const shown = level > layer ? `${token} ${own[layer]}` : '';
      if (group.dataset.shown === shown) return;
      group.dataset.shown = shown;
      group.innerHTML = shown && lines(layer, own[layer], token);
      names[layer].lastElementChild.textContent = `, head ${own[layer]}`;
    });
    const reached = levels.slice(0, level + 1);
    stream.setAttribute('d', `M${x[token]} ${levels[0]}V${reached.at(-1)}`);
    nodes.innerHTML = reached.map(y => `<circle cx="${x[token]}" cy="${y}" r="4.5"/>`).join('');
    out.setAttribute('d', level < layers ? '' : `M${x[token]} ${levels[layers]}H${-left}`);
    likely.classList.toggle('waits', level < layers);
    if (level >= layers) showChances(token, level > layers);
  }

  function showChances(token, chosen) {
    const shown = likeliest(token, 8).slice(0, bars.length), next = tokens[token + 1]?.textContent;
    const name = next && ({' ': 'space', '\n': 'new line'}[next] ?? next.replace(/\n/g, '⏎').replace(/ /g, '␣'));
    if (name && !shown.some(([word]) => word === name)) shown.splice(-1, 1, [name, drawn[token]]);  // less likely, and yet it was drawn
    bars.forEach((bar, at) => {
      const [word, share] = shown[at], [told, long, number] = bar.children;
      bar.classList.toggle('chosen', chosen && word === name);
      told.textContent = word;
      long.style.setProperty('--share', share);
      number.textContent = percent(share);
    });
  }

  const showStill = (token, own) => {  // the token that was chosen, and for a layer another head than the recording's
    still = {token, own: Object.assign([...readers], own)};
    show({...still, level: token < last ? layers + 1 : layers});
  };

  // --- the clock: slowly at first, then faster; a few times, and then it rests ---

  function go() {
    clearTimeout(timer);
    if (!plays || !seen || document.hidden) return;
    const pace = (0.5 + 0.8 * Math.exp((first - run.token) / 9)) * (drawn[run.token] > 0.8 ? 0.5 : 1);  // what is certain passes quickly
    timer = setTimeout(step, over() ? REST : pace * WAITS[run.level]);
  }
  const over = () => run.token === last && run.level === layers;

  function step() {
    if (over() && ++runs === RUNS) return end();
    run = over() ? {token: first, level: 0} : run.level > layers ? {token: run.token + 1, level: 0} : {token: run.token, level: run.level + 1};
    if (run.level <= layers) draw();
    show(run);
    go();
  }

  function play() {
    plays = true;
    if (!run) [run, runs] = [{token: first, level: 0}, 0];
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
  new ResizeObserver(([{contentRect: {width, height}}]) => {
    if (!height) return;  // it has gone: the model itself is there
    wide = width / height * loom.firstElementChild.viewBox.baseVal.height;
    delete ribbon.dataset.token;
    run ? show(run) : showStill(still.token, still.own);
  }).observe(loom);
  return {play, end, layers, showStill, get run() { return run; }};
};
