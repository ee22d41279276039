  // Lessons 7 and 10: the features of a token, to be dragged, and what the norms make of them.
  const count = data.token.length, wide = 260, high = 246, middle = 105, far = 86, size = 40;  // pixels: to the axis's end, and for 1 after a norm
  const ENDS = [10, 20, 50, 100, 200, 500, 1000], EPS = 1e-5;
  let token = [...data.token], end = ENDS[0];
  hint('Drag the features', ', or use the arrow keys', `. What stays the same when you shift them all, or stretch them?`);
  const buttons = make('div', {role: 'group', ariaLabel: 'What happens to all features'}, stage);
  const fits = numbers => largest(numbers) <= ENDS.at(-1);
  const presses = [
    ['Add 1 to all', x => x + 1, fits],
    ['Subtract 1', x => x - 1, fits],
    ['Double all', x => 2 * x, fits],
    ['Halve', x => x / 2, numbers => spread(numbers) ** 2 > 1000 * EPS || spread(numbers) < EPS && largest(numbers) > 0.5],
    ['Start again', (_, feature) => data.token[feature], () => true],
  ].map(([name, change, allowed]) => ({change, allowed, button: make('button', {type: 'button', textContent: name, onclick: () => {
    token = token.map(change);
    end = ENDS.find(one => one >= largest(token));  // the axis grows with the features: none is cut off
    show();
  }}, buttons)}));
  const view = make('div', {className: 'view'}, stage), held = x => Math.round(100 * Math.min(Math.max(x, -end), end)) / 100;
  const sides = ['The token', ...data.norms.map(name => name[0].toUpperCase() + name.slice(1))].map((name, side) => {
    const box = make('div', {style: 'flex: 1 1 14rem; max-width: 22rem'}, view);
    const caption = make('p', {className: 'name', textContent: name}, box);
    const picture = draw('svg', {viewBox: `0 -12 ${wide} ${high}`, width: '100%', role: side ? 'img' : 'group', 'aria-label': name}, box);
    const band = draw('rect', {x: 0, width: wide, fill: 'var(--output)', opacity: 0.14}, picture);
    draw('line', {x1: 0, x2: wide, y1: middle, y2: middle, stroke: 'var(--line)'}, picture);
    const mean = draw('line', {x1: 0, x2: wide, stroke: 'var(--output)', 'stroke-width': 2, 'stroke-dasharray': '6 5'}, picture);
    const bars = data.token.map((_, feature) => {
      const x = 12 + feature * wide / count, column = {x, width: wide / count - 24, fill: side ? 'var(--weight)' : 'var(--key)', rx: 3};
      const bar = draw('rect', column, picture), label = draw('text', {x: x + column.width / 2, 'text-anchor': 'middle', class: 'named'}, picture);
      const handle = side ? null : knob(picture, {fill: 'var(--key)', stroke: 'var(--paper)', 'fill-opacity': 1, r: 10, cx: x + column.width / 2, 'aria-label': `Feature ${feature}: drag it, or move it with the arrow keys`}, {at: () => [0, token[feature]], go: ([x, y]) => { token[feature] = held(Math.round(10 * (y + x)) / 10); show(); }, place: ([, y]) => [0, (middle - y) * end / far]});
      return {bar, label, handle};
    });
    return {caption, band, mean, bars};
  });

  function largest(numbers) { return Math.max(...numbers.map(Math.abs)); }
  function meanOf(numbers) { return sum(numbers) / count; }
  function spread(numbers) { return Math.sqrt(meanOf(numbers.map(x => (x - meanOf(numbers)) ** 2))); }
  const layerNorm = x => x.map(part => (part - meanOf(x)) / Math.sqrt(meanOf(x.map(other => (other - meanOf(x)) ** 2)) + EPS));
  const rmsNorm = x => x.map(part => part / Math.sqrt(meanOf(x.map(other => other ** 2)) + EPS));

  function show() {
    const found = data.norms.map(name => (name === 'RMSNorm' ? rmsNorm : layerNorm)(token));
    [token, ...found].forEach((numbers, side) => {
      const {band, mean, bars} = sides[side], unit = side ? size : far / end, y = middle - unit * meanOf(numbers), around = unit * spread(numbers);
      set(band, {y: y - around, height: 2 * around});
      set(mean, {y1: y, y2: y});
      numbers.forEach((number, feature) => {
        const {bar, label, handle} = bars[feature], tip = middle - unit * number;
        set(bar, {y: Math.min(tip, middle), height: Math.max(Math.abs(tip - middle), 1)});
        set(label, {y: number < 0 ? tip + 28 : tip - 17});
        label.textContent = two(number);
        if (handle) set(handle, {cy: tip, 'aria-valuemin': -end, 'aria-valuemax': end, 'aria-valuenow': number, 'aria-valuetext': String(Math.round(100 * number) / 100)});
      });
    });
    sides[0].caption.textContent = `The token, from −${end} to ${end}`;
    presses.forEach(({button, change, allowed}) => { button.disabled = !allowed(token.map(change)); });
    said.textContent = `The token’s mean is ${two(meanOf(token))}, its standard deviation ${two(spread(token))}, its root mean square ${two(Math.sqrt(meanOf(token.map(x => x ** 2))))}. `
      + data.norms.map((name, number) => `After ${name}: ${found[number].map(two).join(', ')}.`).join(' ') + ' Dashed: the mean, with one standard deviation to each side.'
      + (presses[2].button.disabled ? ' Larger numbers do not fit into the picture.' : presses[3].button.disabled ? ` With smaller numbers, the ${EPS.toFixed(5)} that a norm adds below its root would show.` : '');
  }
  show();
