  // Lesson 4: two heads ask about one sentence. What a head returns leaves a line of possible pairs of values, and two heads a point.
  const unit = 66, [across, up] = [112, 232], least = -1.5, most = 3.3, cell = 33, [left, bottom] = [44, 296];  // pixels; values go from 0 to 8
  const at = ([x, y]) => [across + unit * x, up - unit * y], place = ([x, y]) => [(x - across) / unit, (up - y) / unit];
  const valueAt = ([x, y]) => [left + cell * x, bottom - cell * y], valueOf = ([x, y]) => [(x - left) / cell, (bottom - y) / cell];
  const colours = ['var(--query)', 'var(--weight)'], [first, , last] = data.words;
  const queries = data.queries.map(query => [...query]), values = [...data.values], on = data.queries.map(() => true);
  hint('Drag the heads’ queries, or the point', '; the arrow keys move them, too', `. Switch a head off, and see what is still known about “${first}” and “${last}”.`);
  const buttons = make('div', {role: 'group', ariaLabel: 'The heads'}, stage);
  const switches = queries.map((_, head) => make('button', {type: 'button', onclick: () => { on[head] = !on[head]; show(); }}, buttons));
  make('button', {type: 'button', textContent: 'Ask one question for both', onclick: () => { queries[0] = [2.5, 2.5]; Object.assign(on, [true, false]); show(); }}, buttons);
  make('button', {type: 'button', textContent: 'Ask two', onclick: () => { data.queries.forEach((query, head) => { queries[head] = [...query]; on[head] = true; }); show(); }}, buttons);
  const view = make('div', {className: 'view'}, stage);
  const [asked, known] = [`What the heads of “${data.words[1]}” ask`, `What “${first}” and “${last}” may have handed over`].map(name => {
    const side = make('div', {className: 'plane'}, view);
    make('p', {className: 'name', textContent: name}, side);
    return draw('svg', {viewBox: '0 0 340 340', width: '100%', role: 'group', 'aria-label': name}, side);
  });
  const write = (plane, x, y, text, style = '', anchor = 'middle') =>
    Object.assign(draw('text', {x, y, class: 'named', 'text-anchor': anchor, style}, plane), {textContent: text});

  draw('path', {d: `M0 ${up}H340M${across} 0V340`, stroke: 'var(--faint)'}, asked);
  const named = data.keys.map((key, word) => {
    const [x, y] = at(key);
    draw('line', {x1: across, y1: up, x2: x, y2: y, stroke: 'var(--key)', 'stroke-width': 3}, asked);
    draw('circle', {cx: x, cy: y, r: 5, fill: 'var(--key)'}, asked);
    const place = [x + (word === 1 ? -18 : word ? 24 : 0), y + (word === 1 ? 20 : word ? 5 : 22)];
    write(asked, ...place, data.words[word], 'fill: var(--key)');
    return [place[0] - 18, place[1] - 13, place[0] + 18, place[1] + 3];
  });
  const asks = queries.map((_, head) => ({
    line: draw('line', {x1: across, y1: up, stroke: colours[head], 'stroke-width': 3}, asked),
    handle: knob(asked, {fill: colours[head], stroke: colours[head], 'aria-label': `The query of head ${head}: drag it, or move it with the arrow keys`,
      'aria-valuemin': least, 'aria-valuemax': most}, {at: () => queries[head], go: to => move(head, to), place}),
    label: write(asked, 0, 0, `head ${head}`, `fill: ${colours[head]}; pointer-events: none`),
  }));

  draw('rect', {x: left, y: bottom - 8 * cell, width: 8 * cell, height: 8 * cell, fill: 'none', stroke: 'var(--faint)'}, known);
  for (const value of [0, 2, 4, 6, 8]) {
    write(known, valueAt([value, 0])[0], bottom + 18, value, 'font-weight: 400');
    write(known, left - 8, valueAt([0, value])[1] + 5, value, 'font-weight: 400', 'end');
  }
  write(known, left + 4 * cell, bottom + 38, first, 'fill: var(--key)');
  write(known, left, bottom - 8 * cell - 12, last, 'fill: var(--key)');
  const lines = colours.map(colour => draw('line', {stroke: colour, 'stroke-width': 5, 'stroke-linecap': 'round'}, known));
  const point = knob(known, {fill: 'var(--output)', stroke: 'var(--output)', 'aria-label': `The values of ${first} and ${last}: drag them, or move them with the arrow keys`,
    'aria-valuemin': 0, 'aria-valuemax': 8}, {at: () => [values[0], values[2]], go: hand, place: valueOf});
  const cells = table('Weights and outputs', ['', ...data.words.map(word => `on ${word}`), 'output'], ['head 0', 'head 1'], make('div', {className: 'numbers'}, stage));

  const tenths = (to, low, high) => to.map(part => Math.round(10 * Math.min(Math.max(part, low), high)) / 10);
  function move(head, to) {
    queries[head] = tenths(to, least, most);
    on[head] = true;
    show();
  }
  function hand(to) {
    [values[0], values[2]] = tenths(to, 0, 8);
    show();
  }

  // Where the line a x + b y = c crosses the square of all pairs.
  function crossing([a, , b], c) {
    const ends = [];
    for (const edge of [0, 8]) {
      if (b) ends.push([edge, (c - a * edge) / b]);
      if (a) ends.push([(c - b * edge) / a, edge]);
    }
    const inside = ends.filter(pair => pair.every(part => part > -1e-6 && part < 8 + 1e-6)).sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    return inside.length ? [inside[0], inside.at(-1)] : null;
  }

  function show() {
    const weights = queries.map(query => softmax(data.keys.map(key => dot(query, key) / Math.SQRT2)));
    const outputs = weights.map(row => dot(row, values)), heads = [0, 1].filter(head => on[head]);
    queries.forEach((query, head) => {
      const [x, y] = at(query), {line, handle, label} = asks[head], ends = crossing(weights[head], outputs[head]);
      set(line, {x2: x, y2: y, 'stroke-opacity': on[head] ? 1 : 0.25});
      set(handle, {cx: x, cy: y, opacity: on[head] ? 1 : 0.4, 'aria-valuenow': query[0], 'aria-valuetext': `(${query.map(two).join(', ')})`});
      set(label, {opacity: on[head] ? 1 : 0.4});
      set(lines[head], {visibility: on[head] && ends ? 'visible' : 'hidden'});
      if (ends) {
        const [[x1, y1], [x2, y2]] = ends.map(valueAt);
        set(lines[head], {x1, y1, x2, y2});
      }
      Object.assign(switches[head], {textContent: `Head ${head}: ${on[head] ? 'on' : 'off'}`}).setAttribute('aria-pressed', String(on[head]));
      [...weights[head], outputs[head]].forEach((number, column) => {
        cells[head][column].textContent = on[head] ? two(number) : '–';
        cells[head][column].style.background = on[head] && column < 3 ? `color-mix(in srgb, ${colours[head]} ${Math.round(45 * number)}%, transparent)` : '';
      });
    });
    nameAll(asks.map(({label}, head) => ({label, at: at(queries[head])})), [across, up], 340, named);
    const [x, y] = valueAt([values[0], values[2]]);
    set(point, {cx: x, cy: y, 'aria-valuenow': values[0], 'aria-valuetext': `${first} ${values[0]}, ${last} ${values[2]}`});
    const [[a, , b], [c, , d]] = weights, apart = Math.abs(a * d - b * c) / Math.hypot(a, b) / Math.hypot(c, d);
    const merged = `The merged output is (${heads.map(head => two(outputs[head])).join(', ')})`;
    said.textContent = !heads.length ? 'No head is on, and nothing is known: it could be any pair.'
      : heads.length === 1 ? `${merged}. One number leaves a line: every pair on it would give the same.`
      : apart < 0.05 ? `${merged}. Both heads ask nearly the same question, so their lines almost coincide: the second number adds hardly anything.`
      : `${merged}. The lines cross in one point, so you can tell both values: “${first}” ${two(values[0])} and “${last}” ${two(values[2])}.`;
  }
  show();
