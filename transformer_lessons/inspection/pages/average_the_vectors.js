  // Lesson 1: three vectors to drag. One of them asks, and its output is the average of all three.
  const unit = 122, left = 96, bottom = 244, least = -0.7, most = 1.9;  // pixels, and how far a vector goes
  const at = ([x, y]) => [left + unit * x, bottom - unit * y], place = ([x, y]) => [(x - left) / unit, (bottom - y) / unit];
  const names = ['x₀', 'x₁', 'x₂'], vectors = data.vectors.map(vector => [...vector]);
  const tenths = number => two(number).slice(0, -1), pair = vector => `(${vector.map(two).join(', ')})`.replace(' ', '\u00a0');
  hint('Drag x₀, x₁ or x₂', ', or use the arrow keys', '. Can you make x₀ give another vector more weight than itself?');
  const asks = make('div', {className: 'sliders'}, stage), choices = make('div', {role: 'group', ariaLabel: 'Which vector asks'}, asks);
  const buttons = names.map((name, number) => make('button', {type: 'button', textContent: `${name} asks`, onclick: () => { asking = number; show(); }}, choices));
  const view = make('div', {className: 'view'}, stage);
  const plane = draw('svg', {viewBox: '0 0 340 340', width: '100%', role: 'group', 'aria-label': 'A plane with three vectors and an output'},
    make('div', {className: 'plane'}, view));
  draw('path', {d: `M0 ${bottom}H340M${left} 0V340`, stroke: 'var(--faint)'}, plane);
  [[left + 8, 12, 'feature 1'], [272, bottom + 16, 'feature 0']].forEach(([x, y, name]) => { draw('text', {x, y, style: 'fill: var(--quiet)'}, plane).textContent = name; });
  const triangle = draw('polygon', {fill: 'var(--output)', opacity: 0.12}, plane);
  const arrows = names.map(() => draw('line', {x1: left, y1: bottom, 'stroke-width': 2}, plane));
  const shares = names.map(() => draw('line', {stroke: 'var(--weight)', 'stroke-linecap': 'round', opacity: 0.5}, plane));  // from each vector to the output
  const output = draw('circle', {r: 9, fill: 'var(--output)', stroke: 'var(--paper)', 'stroke-width': 2.5}, plane);
  const handles = names.map((name, number) => knob(plane, {r: 12, 'aria-label': `${name}: drag it, or move it with the arrow keys`,
    'aria-valuemin': least, 'aria-valuemax': most}, {at: () => vectors[number], go: to => move(number, to), place}));
  const labels = [...names, 'y'].map(name => Object.assign(draw('text', {class: 'named', 'text-anchor': 'middle'}, plane), {textContent: name}));
  const numbers = make('div', {className: 'numbers'}, view);
  const cells = table('Vectors, scores and weights', ['', 'vector', 'score', 'weight', ''], [...names, 'y'], numbers);
  const bars = cells.map(row => bar(row[3])), averaged = cells[3][0], heading = averaged.previousElementSibling;
  heading.style.color = averaged.style.color = labels[3].style.fill = 'var(--output)';
  cells[3][2].textContent = two(1);
  bars[3](1);
  numbers.append(said);
  let asking = 0;

  function move(number, to) {
    vectors[number] = to.map(part => Math.round(10 * Math.min(Math.max(part, least), most)) / 10);
    show();
  }

  function show() {
    const scores = vectors.map(vector => dot(vectors[asking], vector)), weights = softmax(scores), average = blend(weights, vectors);
    const name = names[asking], result = name.replace('x', 'y'), [cx, cy] = at(average), largest = weights.indexOf(Math.max(...weights));
    vectors.forEach((vector, number) => {
      const [x, y] = at(vector), colour = `var(--${number === asking ? 'query' : 'key'})`;
      set(arrows[number], {x2: x, y2: y, stroke: colour});
      set(shares[number], {x1: x, y1: y, x2: cx, y2: cy, 'stroke-width': 1 + 16 * weights[number]});
      set(handles[number], {cx: x, cy: y, fill: colour, stroke: colour, 'aria-valuenow': vector[0], 'aria-valuetext': `(${vector.join(', ')})`});
      labels[number].style.fill = colour;
      buttons[number].ariaPressed = String(number === asking);
      [`(${vector.map(tenths).join(', ')})`, two(scores[number]), two(weights[number])].forEach((text, column) => { cells[number][column].textContent = text; });
      bars[number](weights[number]);
    });
    set(triangle, {points: vectors.map(vector => at(vector).join()).join(' ')});
    set(output, {cx, cy});
    labels[3].textContent = heading.textContent = result;
    averaged.textContent = pair(average);
    nameAll([...vectors, average].map((vector, number) => ({label: labels[number], at: at(vector)})), at(blend([1, 1, 1].map(one => one / 3), vectors)), 340);
    said.textContent = `${name} asks: scores ${scores.map(two).join(', ')}; weights ${weights.map(two).join(', ')}; ${result} is ${pair(average)}.`
      + (weights[largest] - weights[asking] > 0.005 ? ` ${name} gives ${names[largest]} more weight than itself.` : '');
  }
  show();
