  // Lesson 1: four vectors that answer, one that asks, and the average moving inside their polygon.
  const unit = 50, middle = 170;  // pixels
  const at = ([x, y]) => [middle + unit * x, middle - unit * y];
  make('p', {className: 'name', textContent: 'Drag the round handle, the query, or use the arrow keys. a to d are keys and values '
    + 'in one; the output is their weighted average.'}, stage);
  const sliders = make('div', {className: 'sliders'}, stage);
  const factor = slider('All scores ×', {min: 0, max: 10, step: 0.5, value: 1}, String, sliders, show);
  const view = make('div', {className: 'view'}, stage);
  const plane = draw('svg', {viewBox: '0 0 340 340', width: '100%', role: 'group',
    'aria-label': 'A plane with four keys, the query, and the output'}, make('div', {className: 'plane'}, view));
  draw('path', {d: `M0 ${middle}H340M${middle} 0V340`, stroke: 'var(--faint)'}, plane);
  const corners = hull(data.keys).map(key => at(key).join()).join(' ');
  draw('polygon', {points: corners, fill: 'var(--output)', opacity: 0.12}, plane);
  const shafts = data.keys.map(key => arrow(key, 'var(--key)'));
  const labels = data.keys.map((key, number) => {
    const [x, y] = at(key.map(part => part * (1 + 0.24 / Math.hypot(...key))));
    const side = Math.abs(key[0]) < Math.abs(key[1]) ? 'middle' : key[0] < 0 ? 'end' : 'start';
    const label = draw('text', {class: 'named', x, y: y + 4, 'text-anchor': side}, plane);
    label.textContent = `${data.names[number]} `;
    return draw('tspan', {fill: 'var(--weight)'}, label);
  });
  const asking = arrow(data.query, 'var(--query)', false);  // its end is the handle
  const output = draw('circle', {r: 7, fill: 'var(--output)', stroke: 'var(--paper)', 'stroke-width': 2}, plane);
  const [queryName, outputName] = ['query', 'output'].map(name => {
    const label = draw('text', {class: 'named', style: `fill: var(--${name})`}, plane);
    label.textContent = name;
    return label;
  });
  const handle = draw('circle', {class: 'handle', r: 14, fill: 'var(--query)', 'fill-opacity': 0.35, stroke: 'var(--query)',
    'stroke-width': 2, tabindex: 0, role: 'slider', 'aria-label': 'Query: drag it, or move it with the arrow keys',
    'aria-valuemin': -3, 'aria-valuemax': 3}, plane);
  const grip = draw('circle', {class: 'handle grip', r: 28, fill: 'transparent'}, plane);  // what a finger gets hold of
  const numbers = make('div', {className: 'numbers'}, view);
  const cells = table('Scores and weights', ['key', 'query · key', '', 'weight', ''], data.names, numbers);
  const bars = cells.map(row => [bar(row[1], true), bar(row[3])]);
  numbers.append(said);
  let query = [...data.query];

  function arrow([x, y], colour, tip = true) {
    const [endX, endY] = at([x, y]);
    const line = draw('line', {x1: middle, y1: middle, x2: endX, y2: endY, stroke: colour, 'stroke-width': 3}, plane);
    if (tip) draw('circle', {cx: endX, cy: endY, r: 4, fill: colour}, plane);
    return line;
  }

  function name(label, x, y, far, up) {  // beside a point, or over or under it where it would cover the name of a key
    set(label, {x: x + far, y: y + 5, 'text-anchor': far < 0 ? 'end' : 'start'});
    const own = label.getBBox();
    const covers = box => own.x < box.x + box.width && box.x < own.x + own.width && Math.abs(own.y - box.y) < box.height;
    if (labels.some(key => covers(key.parentElement.getBBox()))) set(label, {x, y: up ? y - Math.abs(far) : y + Math.abs(far) + 13, 'text-anchor': 'middle'});
  }

  function hull(points) {  // its corners, in order
    const centre = blend(points.map(() => 1 / points.length), points);
    return [...points].sort((a, b) => Math.atan2(a[1] - centre[1], a[0] - centre[0]) - Math.atan2(b[1] - centre[1], b[0] - centre[0]));
  }

  const move = to => { query = to.map(part => Math.round(10 * Math.min(Math.max(part, -3), 3)) / 10); show(); };

  function show() {
    const scores = data.keys.map(key => dot(query, key));
    const weights = softmax(scores.map(score => factor.value * score));
    const average = blend(weights, data.keys);
    const [x, y] = at(query);
    set(asking, {x2: x, y2: y});
    set(handle, {cx: x, cy: y, 'aria-valuenow': query[0], 'aria-valuetext': `(${query.join(', ')})`});
    set(grip, {cx: x, cy: y});
    const [cx, cy] = at(average);
    set(output, {cx, cy});
    cells.forEach((row, number) => {
      row[0].textContent = two(scores[number]);
      row[2].textContent = two(weights[number]);
      bars[number][0](scores[number] / Math.max(1, ...scores.map(Math.abs)));
      bars[number][1](weights[number]);
      labels[number].textContent = two(weights[number]);
      set(shafts[number], {'stroke-width': 2 + 6 * weights[number]});
    });
    const side = cx < x ? -1 : 1;  // each name on the far side of the other
    name(outputName, cx, cy, 13 * side, cy < y);
    name(queryName, x, y, -20 * side, cy >= y);
    said.textContent = `Query (${query.map(two).join(', ')}): weights ${weights.map(two).join(', ')}, output (${average.map(two).join(', ')}).`.replace(/(\(\S+) /g, '$1\u00a0');
  }

  plane.onclick = pull;
  grip.addEventListener('touchstart', event => event.preventDefault(), {passive: false});  // else the page scrolls
  plane.onpointerdown = event => {
    if (event.pointerType === 'touch' && event.target !== grip) return;  // a swipe scrolls the page
    plane.setPointerCapture(event.pointerId);
    plane.onpointermove = pull;
    pull(event);
    handle.classList.add('pulled');  // by hand: a mark for the keyboard would be in the way
    handle.focus({preventScroll: true});
  };
  plane.onmousedown = event => event.preventDefault();  // else the focus would leave the handle again
  plane.onpointerup = plane.onpointercancel = () => { plane.onpointermove = null; };

  function pull(event) {
    const box = plane.getBoundingClientRect(), scale = 340 / box.width;
    move([((event.clientX - box.left) * scale - middle) / unit, (middle - (event.clientY - box.top) * scale) / unit]);
  }

  handle.onblur = () => handle.classList.remove('pulled');
  handle.pressed = event => {
    handle.classList.remove('pulled');
    const step = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1]}[event.key];
    if (!step) return;
    event.preventDefault();
    move(query.map((part, i) => part + step[i]));
  };
  show();
