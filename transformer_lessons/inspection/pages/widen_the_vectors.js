  // Lesson 3: the same vectors with more and more features; weights and slopes with scaling and without it.
  const sliders = make('div', {className: 'sliders'}, stage);
  const width = slider('d, the number of features:', {min: 1, max: 9, step: 1, value: 4}, power => 2 ** power, sliders, show);
  const view = make('div', {className: 'view'}, stage);
  const sides = [['Unscaled', () => 1], ['Divided by √d', Math.sqrt]].map(([name, scale]) => {
    const side = make('div', {}, view);
    make('p', {className: 'name', textContent: name}, side);
    const size = 30, left = 66;
    const picture = draw('svg', {viewBox: `0 0 ${left + 6 * size + 70} ${4 * size + 40}`, width: left + 6 * size + 70,
      height: 4 * size + 40, role: 'img'}, side);
    const put = (x, y, text, anchor = 'middle') => {
      const label = draw('text', {x, y, 'text-anchor': anchor}, picture);
      label.textContent = text;
      return label;
    };
    put(left + 3 * size, 14, 'keys');
    put(left + 6 * size + 35, 14, 'slope');
    const rows = data.queries.map((_, query) => {
      const y = 22 + query * size;
      put(left - 6, y + 20, `query ${query}`, 'end');
      const squares = data.keys.map((_, key) => draw('rect', {x: left + key * size, y, width: size - 2, height: size - 2,
        fill: 'var(--weight)', stroke: 'var(--line)', 'stroke-width': 0.5}, picture));
      return {squares, slope: put(left + 6 * size + 35, y + 20, '')};
    });
    return {name, scale, picture, rows};
  });

  function numbersAt(d, scale) {  // of every query: its weights, and the sum of the slopes w (1 - w)
    return data.queries.map(query => {
      const weights = softmax(data.keys.map(key => dot(query.slice(0, d), key) / 10 ** 2 / scale));
      return {weights, slope: sum(weights.map(w => w * (1 - w)))};
    });
  }

  function show() {
    const d = 2 ** width.value, told = [];
    for (const {name, scale, picture, rows} of sides) {
      const found = numbersAt(d, scale(d));
      found.forEach(({weights, slope}, query) => {
        weights.forEach((weight, key) => set(rows[query].squares[key], {'fill-opacity': weight}));
        rows[query].slope.textContent = two(slope);
      });
      const words = `${name}: largest weights ${found.map(row => two(Math.max(...row.weights))).join(', ')}; `
        + `slopes ${found.map(row => two(row.slope)).join(', ')}`;
      set(picture, {'aria-label': `${words}. Four queries down, six keys across.`});
      told.push(words);
    }
    said.textContent = `d = ${d}. ${told.join('. ')}.`;
  }
  show();
