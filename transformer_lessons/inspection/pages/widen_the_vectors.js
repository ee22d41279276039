  // Lesson 3: the same vectors with more and more features; weights and slopes with scaling and without it.
  const sliders = make('div', {className: 'sliders'}, stage);
  const width = slider('d, the number of features:', {min: 1, max: 9, step: 1, value: 4}, power => 2 ** power, sliders, show);
  const view = make('div', {className: 'view'}, stage);
  const sides = [['Unscaled', () => 1], ['Divided by √d', Math.sqrt]].map(([name, scale]) => {
    const side = make('div', {}, view);
    make('p', {className: 'name', textContent: name}, side);
    const size = 36, left = 58, right = left + 6 * size + 10, high = 34;
    const picture = draw('svg', {viewBox: `0 0 ${right + 52} ${4 * high + 26}`, width: right + 52, height: 4 * high + 26, role: 'img'}, side);
    const put = (x, y, text, anchor = 'middle', style = '') => {
      const label = draw('text', {x, y, 'text-anchor': anchor, style}, picture);
      label.textContent = text;
      return label;
    };
    const quiet = 'fill: var(--quiet); font-size: 12px';
    data.keys.forEach((_, key) => put(left + (key + 0.5) * size - 1, 15, `key ${key}`, 'middle', quiet));
    put(right, 15, 'slope', 'start', quiet);
    const rows = data.queries.map((_, query) => {
      const y = 22 + query * high;
      put(left - 8, y + 21, `query ${query}`, 'end', quiet);
      const squares = data.keys.map((_, key) => {
        const place = {x: left + key * size, y, width: size - 2, height: high - 2, rx: 4, fill: 'var(--weight)'};
        draw('rect', {...place, 'fill-opacity': 0.06}, picture);
        const square = draw('rect', {...place, style: 'transition: fill-opacity 0.25s'}, picture);
        return {square, number: put(left + (key + 0.5) * size - 1, y + 20, '', 'middle', 'font-size: 12px; transition: fill 0.25s')};
      });
      draw('rect', {x: right, y: y + 23, width: 50, height: 5, rx: 2, fill: 'var(--output)', 'fill-opacity': 0.15}, picture);
      const part = draw('rect', {x: right, y: y + 23, width: 50, height: 5, rx: 2, fill: 'var(--output)',
        style: `transform-origin: ${right}px 0; transition: transform 0.25s`}, picture);
      return {squares, slope: put(right, y + 18, '', 'start', 'fill: var(--output); font-weight: 600'), part};
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
        weights.forEach((weight, key) => {
          const {square, number} = rows[query].squares[key];
          set(square, {'fill-opacity': weight});
          number.textContent = two(weight);
          number.style.fill = weight > 0.7 ? 'var(--paper)' : 'var(--text)';
        });
        rows[query].slope.textContent = two(slope);
        rows[query].part.style.transform = `scaleX(${slope})`;
      });
      const words = `${name}: largest weights ${found.map(row => two(Math.max(...row.weights))).join(', ')}; `
        + `slopes ${found.map(row => two(row.slope)).join(', ')}`;
      set(picture, {'aria-label': `${words}. Four queries down, six keys across.`});
      told.push(words);
    }
    said.textContent = `d = ${d}. ${told.join('. ')}.`;
  }
  show();
