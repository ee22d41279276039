  // Lessons 7 and 10: the features of a token, to be dragged, and what the norms make of them.
  const count = data.token.length, wide = 260, high = 210, middle = 105, end = 10, sizes = [8.6, 40];  // pixels for 1: before, and after
  let token = [...data.token];
  hint('Drag the features', ', or use the arrow keys', `. What stays the same when you shift them all, or stretch them?`);
  const buttons = make('div', {role: 'group', ariaLabel: 'What happens to all features'}, stage);
  const press = (name, change) => make('button', {type: 'button', textContent: name, onclick: () => { token = token.map(change).map(held); show(); }}, buttons);
  press('Add 1 to all', x => x + 1);
  press('Subtract 1', x => x - 1);
  press('Double all', x => 2 * x);
  press('Halve', x => x / 2);
  press('Start again', (_, feature) => data.token[feature]);
  const view = make('div', {className: 'view'}, stage), held = x => Math.round(100 * Math.min(Math.max(x, -end), end)) / 100;
  const sides = ['The token', ...data.norms].map((name, side) => {
    const box = make('div', {style: 'flex: 1 1 14rem; max-width: 22rem'}, view);
    const caption = make('p', {className: 'name', textContent: name}, box), size = sizes[Math.min(side, 1)];
    const picture = draw('svg', {viewBox: `0 0 ${wide} ${high}`, width: '100%', role: side ? 'img' : 'group', 'aria-label': name}, box);
    const band = draw('rect', {x: 0, width: wide, fill: 'var(--output)', opacity: 0.14}, picture);
    draw('line', {x1: 0, x2: wide, y1: middle, y2: middle, stroke: 'var(--line)'}, picture);
    const mean = draw('line', {x1: 0, x2: wide, stroke: 'var(--output)', 'stroke-width': 2, 'stroke-dasharray': '6 5'}, picture);
    const bars = data.token.map((_, feature) => {
      const x = 12 + feature * wide / count, column = {x, width: wide / count - 24, fill: side ? 'var(--weight)' : 'var(--key)', rx: 3};
      const bar = draw('rect', column, picture), label = draw('text', {x: x + column.width / 2, 'text-anchor': 'middle', class: 'named'}, picture);
      const handle = side ? null : knob(picture, {fill: 'var(--key)', stroke: 'var(--paper)', 'fill-opacity': 1, r: 10, cx: x + column.width / 2, 'aria-label': `Feature ${feature}: drag it, or move it with the arrow keys`,
        'aria-valuemin': -end, 'aria-valuemax': end}, {at: () => [0, token[feature]], go: ([x, y]) => { token[feature] = held(Math.round(10 * (y + x)) / 10); show(); }, place: ([, y]) => [0, (middle - y) / size]});
      return {bar, label, handle};
    });
    return {caption, band, mean, bars, size};
  });

  const meanOf = numbers => sum(numbers) / count;
  const layerNorm = x => x.map(part => (part - meanOf(x)) / Math.sqrt(meanOf(x.map(other => (other - meanOf(x)) ** 2)) + 1e-5));
  const rmsNorm = x => x.map(part => part / Math.sqrt(meanOf(x.map(other => other ** 2)) + 1e-5));

  function show() {
    const found = data.norms.map(name => (name === 'RMSNorm' ? rmsNorm : layerNorm)(token)), spread = numbers => Math.sqrt(meanOf(numbers.map(x => (x - meanOf(numbers)) ** 2)));
    [token, ...found].forEach((numbers, side) => {
      const {band, mean, bars, size} = sides[side], centre = meanOf(numbers), y = middle - size * centre, far = size * spread(numbers);
      set(band, {y: y - far, height: 2 * far});
      set(mean, {y1: y, y2: y});
      numbers.forEach((number, feature) => {
        const {bar, label, handle} = bars[feature], tip = middle - size * number;
        set(bar, {y: Math.min(tip, middle), height: Math.max(Math.abs(tip - middle), 1)});
        set(label, {y: Math.min(Math.max(number < 0 ? tip + 28 : tip - 17, 14), high - 6)});
        label.textContent = two(number);
        if (handle) set(handle, {cy: tip, 'aria-valuenow': number, 'aria-valuetext': String(number)});
      });
    });
    said.textContent = `The token’s mean is ${two(meanOf(token))}, its standard deviation ${two(spread(token))}, its root mean square ${two(Math.sqrt(meanOf(token.map(x => x ** 2))))}. `
      + data.norms.map((name, number) => `After ${name}: ${found[number].map(two).join(', ')}.`).join(' ') + ' Dashed: the mean, with one standard deviation to each side.';
  }
  show();
