  // Lesson 12: what is computed at each step of writing, with and without a cache of keys and values.
  const sliders = make('div', {className: 'sliders'}, stage);
  const written = slider('Tokens written', {min: 1, max: data.words.length, step: 1, value: data.written}, String, sliders, show);
  const view = make('div', {className: 'view'}, stage), size = 24, left = 74, top = 12, count = data.words.length;
  const grids = ['Without a cache', 'With a cache'].map((name, cached) => {
    const side = make('div', {}, view);
    const caption = make('p', {className: 'name', textContent: name}, side);
    const picture = draw('svg', {viewBox: `0 0 ${left + count * size} ${top + count * size + 4}`, width: left + count * size,
      height: top + count * size + 4, role: 'img'}, side);
    const squares = data.words.map((word, step) => {
      draw('text', {x: left - 6, y: top + size * (step + 0.65), 'text-anchor': 'end', 'font-size': 12}, picture).textContent = word;
      return data.words.slice(0, step + 1).map((_, token) => draw('rect', {x: left + token * size, y: top + step * size, width: size - 2,
        height: size - 2, rx: 3, fill: cached && token < step ? 'var(--key)' : 'var(--weight)', stroke: 'var(--line)', 'stroke-width': 0.5}, picture));
    });
    return {name, caption, picture, squares, cached};
  });
  const legend = make('p', {}, stage);
  make('span', {textContent: 'Blue: a key and a value are computed. ', style: 'color: var(--weight)'}, legend);
  make('span', {textContent: 'Pale: they are read from the cache. ', style: 'color: var(--key)'}, legend);
  legend.append('Each row is a step that writes one token.');

  function show() {
    const now = written.value, told = grids.map(({name, caption, picture, squares, cached}) => {
      let computed = 0;
      squares.forEach((row, step) => row.forEach((square, token) => {
        const read = cached && token < step;
        if (step < now && !read) computed++;
        set(square, {'fill-opacity': step >= now ? 0 : read ? 0.25 : step === now - 1 ? 0.95 : 0.6, 'stroke-opacity': step < now ? 1 : 0.25});
      }));
      caption.textContent = `${name}: ${computed} computed`;
      set(picture, {'aria-label': `${name}, after ${now} steps: ${computed} keys and values are computed.`});
      return computed;
    });
    said.textContent = `After ${now} tokens: ${told[0]} keys and values computed without a cache, ${told[1]} with one. `
      + `The cache holds ${now} of each, and step ${now} ${now > 1 ? `reads ${now - 1} and adds 1` : 'adds the first'}.`;
  }
  show();
