  // Lesson 5: a query and a key of four pairs, each turned by its position, and their score.
  const sliders = make('div', {className: 'sliders'}, stage);
  const say = position => String(position);
  const range = {min: 0, max: data.last, step: 1};
  const asks = slider('Query at position', {...range, value: data.query_at}, say, sliders, show);
  const answers = slider('Key at position', {...range, value: data.key_at}, say, sliders, show);
  const both = slider('Both moved by', {min: -data.last, max: data.last, step: 1, value: 0}, say, sliders, shift);
  const view = make('div', {className: 'view'}, stage);
  const at = (angle, far) => `${75 + far * Math.cos(angle)} ${75 - far * Math.sin(angle)}`;
  const faces = data.frequencies.map((frequency, pair) => {
    const side = make('div', {}, view);
    make('p', {className: 'name', textContent: `Pair ${pair}: ω = ${frequency}`}, side);
    const face = draw('svg', {viewBox: '0 0 150 150', width: 136, height: 136, role: 'img'}, side);
    draw('circle', {cx: 75, cy: 75, r: 70, fill: 'none', stroke: 'var(--faint)'}, face);
    draw('path', {d: [...Array(12).keys()].map(hour => `M${at(hour * Math.PI / 6, 70)}L${at(hour * Math.PI / 6, hour % 3 ? 66 : 63)}`).join(''),
      stroke: 'var(--line)'}, face);
    const between = draw('path', {fill: 'var(--output)', 'fill-opacity': 0.22}, face);
    const hand = (colour, dash) => [draw('line', {x1: 75, y1: 75, stroke: colour, 'stroke-width': 4, 'stroke-linecap': 'round',
      'stroke-dasharray': dash}, face), draw('circle', {r: 5.5, fill: colour}, face)];
    const found = {face, between, query: hand('var(--query)', 'none'), key: hand('var(--key)', '8 6')};
    draw('circle', {cx: 75, cy: 75, r: 3, fill: 'var(--text)'}, face);
    const score = make('div', {}, side), number = make('b', {}, score), fill = bar(score, true);
    score.lastChild.style = 'width: 100%; margin-top: 4px';
    return {...found, number, fill};
  });
  const legend = make('p', {}, stage);
  make('span', {textContent: 'Solid: the query. ', style: 'color: var(--query)'}, legend);
  make('span', {textContent: 'Dashed: the key. ', style: 'color: var(--key)'}, legend);
  legend.append('Each is turned by its position times the frequency ω. Shaded: the angle between the hands. Under each clock: their dot product.');
  let last = 0;

  function shift() {  // as far as both can go
    const step = both.value - last;
    const lowest = -Math.min(asks.value, answers.value), highest = data.last - Math.max(asks.value, answers.value);
    const moved = Math.min(Math.max(step, lowest), highest);
    asks.value += moved;
    answers.value += moved;
    last += moved;
    both.value = last;
    show();
  }

  function turned([x, y], angle) {
    return [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
  }

  function show() {
    const parts = faces.map(({face, between, query, key, number, fill}, pair) => {
      const hands = [[data.query, asks, query], [data.key, answers, key]].map(([vector, where, [line, tip]]) => {
        const hand = turned(vector.slice(2 * pair, 2 * pair + 2), where.value * data.frequencies[pair]);
        set(line, {x2: 75 + 58 * hand[0], y2: 75 - 58 * hand[1]});
        set(tip, {cx: 75 + 58 * hand[0], cy: 75 - 58 * hand[1]});
        return hand;
      });
      const product = dot(...hands), [one, other] = hands.map(([x, y]) => Math.atan2(y, x));
      const ahead = Math.sin(other - one) > 0 ? 0 : 1;  // the shorter way round
      set(between, {d: `M75 75L${at(one, 30)}A30 30 0 0 ${ahead} ${at(other, 30)}Z`});
      number.textContent = two(product);
      fill(product);
      set(face, {'aria-label': `Pair ${pair}: the dot product of the two hands is ${two(product)}`});
      return product;
    });
    const distance = asks.value - answers.value;
    said.textContent = `Query at ${asks.value}, key at ${answers.value}, ${Math.abs(distance)} apart: the score is `
      + `${parts.map(two).join(' + ').replaceAll('+ −', '− ')} ≈ ${two(sum(parts))}. `
      + 'Of the positions, only their difference counts. Move both together, and it stays the same.';
  }
  show();
