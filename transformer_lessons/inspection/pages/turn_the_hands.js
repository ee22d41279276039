  // Lesson 5: a query and a key of four pairs, each turned by its position, and their score.
  const sliders = make('div', {className: 'sliders'}, stage);
  const say = position => String(position);
  const range = {min: 0, max: data.last, step: 1};
  const asks = slider('Query at position', {...range, value: data.query_at}, say, sliders, show);
  const answers = slider('Key at position', {...range, value: data.key_at}, say, sliders, show);
  const both = slider('Both moved by', {min: -data.last, max: data.last, step: 1, value: 0}, say, sliders, shift);
  const view = make('div', {className: 'view'}, stage);
  const faces = data.frequencies.map((frequency, pair) => {
    const side = make('div', {}, view);
    make('p', {className: 'name', textContent: `Pair ${pair}: ω = ${frequency}`}, side);
    const face = draw('svg', {viewBox: '0 0 150 150', width: 136, height: 136, role: 'img'}, side);
    draw('circle', {cx: 75, cy: 75, r: 70, fill: 'none', stroke: 'var(--faint)'}, face);
    const hand = (colour, dash) => draw('line', {x1: 75, y1: 75, stroke: colour, 'stroke-width': 4, 'stroke-linecap': 'round',
      'stroke-dasharray': dash}, face);
    const found = {face, query: hand('var(--query)', 'none'), key: hand('var(--key)', '8 6')};
    const score = make('div', {}, side);
    return {...found, score};
  });
  const legend = make('p', {}, stage);
  make('span', {textContent: 'Solid: the query. ', style: 'color: var(--query)'}, legend);
  make('span', {textContent: 'Dashed: the key. ', style: 'color: var(--key)'}, legend);
  legend.append('Each is turned by its position times the frequency ω. Under each clock: the dot product of the two hands.');
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
    const parts = faces.map(({face, query, key, score}, pair) => {
      const hands = [[data.query, asks, query], [data.key, answers, key]].map(([vector, where, line]) => {
        const hand = turned(vector.slice(2 * pair, 2 * pair + 2), where.value * data.frequencies[pair]);
        set(line, {x2: 75 + 60 * hand[0], y2: 75 - 60 * hand[1]});
        return hand;
      });
      const product = dot(...hands);
      score.textContent = two(product);
      set(face, {'aria-label': `Pair ${pair}: the dot product of the two hands is ${two(product)}`});
      return product;
    });
    const distance = asks.value - answers.value;
    said.textContent = `Query at ${asks.value}, key at ${answers.value}, ${Math.abs(distance)} apart: the score is `
      + `${parts.map(two).join(' + ').replaceAll('+ −', '− ')} ≈ ${two(sum(parts))}. `
      + 'Of the positions, only their difference counts. Move both together, and it stays the same.';
  }
  show();
