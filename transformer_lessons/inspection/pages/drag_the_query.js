  // Lesson 1: four vectors that answer, one that asks, and the average moving inside their polygon.
  const unit = 60, middle = 170, end = 2.5;  // pixels, and where the query ends
  const at = ([x, y]) => [middle + unit * x, middle - unit * y];
  hint('Drag the query by its round handle', ', or use the arrow keys', '. The vectors a to d are the keys, and the output is their weighted average.');
  const sliders = make('div', {className: 'sliders'}, stage);
  const factor = slider('All scores ×', {min: 0, max: 10, step: 0.5, value: 1}, String, sliders, show);
  const view = make('div', {className: 'view'}, stage);
  const plane = draw('svg', {viewBox: '0 0 340 340', width: '100%', role: 'group',
    'aria-label': 'A plane with four keys, the query, and the output'}, make('div', {className: 'plane'}, view));
  draw('path', {d: `M0 ${middle}H340M${middle} 0V340`, stroke: 'var(--faint)'}, plane);
  draw('polygon', {points: hull(data.keys).map(key => at(key).join()).join(' '), fill: 'var(--output)', opacity: 0.12}, plane);
  const shafts = data.keys.map(key => arrow(key, 'var(--key)'));
  const labels = data.keys.map((key, number) => draw('tspan', {fill: 'var(--weight)'},
    Object.assign(draw('text', {class: 'named'}, plane), {textContent: `${data.names[number]} `})));
  const asking = arrow(data.query, 'var(--query)', false);  // its end is the handle
  const output = draw('circle', {r: 7, fill: 'var(--output)', stroke: 'var(--paper)', 'stroke-width': 2}, plane);
  const [queryName, outputName] = ['query', 'output'].map(name =>
    Object.assign(draw('text', {class: 'named', style: `fill: var(--${name})`}, plane), {textContent: name}));
  const handle = draw('circle', {class: 'handle', r: 14, fill: 'var(--query)', 'fill-opacity': 0.35, stroke: 'var(--query)',
    'stroke-width': 2, tabindex: 0, role: 'slider', 'aria-label': 'Query: drag it, or move it with the arrow keys',
    'aria-valuemin': -end, 'aria-valuemax': end}, plane);
  const grip = draw('circle', {class: 'handle grip', r: 28, fill: 'transparent'}, plane);  // what a finger gets hold of
  const numbers = make('div', {className: 'numbers'}, view);
  const cells = table('Scores and weights', ['key', 'query · key', '', 'weight', ''], data.names, numbers);
  const bars = cells.map(row => [bar(row[1], true), bar(row[3])]);
  numbers.append(said);
  let query = [...data.query];

  function arrow([x, y], colour, tip = true) {
    const [endX, endY] = at([x, y]);
    if (tip) draw('circle', {cx: endX, cy: endY, r: 4, fill: colour}, plane);
    return draw('line', {x1: middle, y1: middle, x2: endX, y2: endY, stroke: colour, 'stroke-width': 3}, plane);
  }

  const around = ([x, y], far) => ({x: x - far, y: y - far, width: 2 * far, height: 2 * far});
  const along = point => Array.from({length: 12}, (_, i) => around(at(point.map(part => part * (i + 1) / 12)), 3));
  const both = (one, other, from, size) => Math.max(0, Math.min(one[from] + one[size], other[from] + other[size]) - Math.max(one[from], other[from]));
  const beside = ([x, y], far, h, v) => [[x + h * far, y], [x, y + v * (far + 8)], [x - h * far, y], [x, y - v * (far + 8)],
    ...[[h, v], [h, -v], [-h, v], [-h, -v]].map(([h, v]) => [x + h * far, y + v * far])].map(spot => [...spot, spot[0] - x]);

  function name(label, spots, taken) {  // at the first of the spots where it covers least
    const {width, height} = label.size?.width ? label.size : label.size = label.getBBox();  // asked once: it lays out the page
    const boxes = spots.map(([x, y, side]) => ({x: x - width * (1 - Math.sign(side)) / 2, y: y + 5 - 0.8 * height, width, height}));
    const costs = boxes.map(own => sum(taken.map(box => both(own, box, 'x', 'width') * both(own, box, 'y', 'height'))) + 20 * Math.max(0, -own.x, own.x + own.width - 350));
    taken.push(boxes[costs.indexOf(Math.min(...costs))]);
    set(label, {x: taken.at(-1).x, y: taken.at(-1).y + 0.8 * height});
  }

  function hull(points) {  // its corners, in order
    const centre = blend(points.map(() => 1 / points.length), points);
    return [...points].sort((a, b) => Math.atan2(a[1] - centre[1], a[0] - centre[0]) - Math.atan2(b[1] - centre[1], b[0] - centre[0]));
  }

  const move = to => { query = to.map(part => Math.round(10 * Math.min(Math.max(part, -end), end)) / 10); show(); };

  function show() {
    const scores = data.keys.map(key => dot(query, key));
    const weights = softmax(scores.map(score => factor.value * score));
    const average = blend(weights, data.keys), [x, y] = at(query), [cx, cy] = at(average);
    set(asking, {x2: x, y2: y});
    set(handle, {cx: x, cy: y, 'aria-valuenow': query[0], 'aria-valuetext': `(${query.join(', ')})`});
    set(grip, {cx: x, cy: y});
    set(output, {cx, cy});
    cells.forEach((row, number) => {
      row[0].textContent = two(scores[number]);
      row[2].textContent = two(weights[number]);
      bars[number][0](scores[number] / Math.max(1, ...scores.map(Math.abs)));
      bars[number][1](weights[number]);
      labels[number].textContent = two(weights[number]);
      set(shafts[number], {'stroke-width': 2 + 6 * weights[number]});
    });
    const taken = [around([x, y], 15), around([cx, cy], 8), ...[query, ...data.keys].flatMap(along)];
    data.keys.forEach((key, number) => {
      const outside = at(key.map(part => part * (1 + 0.26 / Math.hypot(...key)))), [h, v] = [Math.sign(key[0]), -Math.sign(key[1])];
      name(labels[number].parentElement, [[...outside, Math.abs(key[0]) < Math.abs(key[1]) ? 0 : h], ...beside(at(key), 20, h, v), ...beside(at(key), 32, h, v)], taken);
    });
    const [h, v] = [cx < x ? -1 : 1, cy < y ? -1 : 1];  // each name on the far side of the other
    name(outputName, [...beside([cx, cy], 13, h, v), ...beside([cx, cy], 26, h, v)], taken);
    name(queryName, [...beside([x, y], 20, -h, -v), ...beside([x, y], 32, -h, -v)], taken);
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
