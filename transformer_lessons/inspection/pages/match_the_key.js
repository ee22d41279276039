  // Lesson 2: two words, each with a query and a key that can be dragged; who asks whom, and what the softmax makes of it.
  const unit = 52, middle = 170, end = 3;
  const at = ([x, y]) => [middle + unit * x, middle - unit * y], place = ([x, y]) => [(x - middle) / unit, (middle - y) / unit];
  hint('Drag a query (solid) or a key (dashed) by its handle', ', or use the arrow keys', '. A query changes one row of scores, a key one column.');
  const view = make('div', {className: 'view'}, stage);
  const plane = draw('svg', {viewBox: '0 0 340 340', width: '100%', role: 'group', 'aria-label': 'A plane with two queries and two keys'},
    make('div', {className: 'plane'}, view));
  draw('path', {d: `M0 ${middle}H340M${middle} 0V340`, stroke: 'var(--faint)'}, plane);
  const vectors = [...data.queries, ...data.keys].map(vector => [...vector]), count = data.words.length;
  const handles = vectors.map((_, number) => {
    const asks = number < count, colour = asks ? 'var(--query)' : 'var(--key)';
    const name = `${asks ? 'query' : 'key'} of “${data.words[number % count]}”`;
    const line = draw('line', {x1: middle, y1: middle, stroke: colour, 'stroke-width': 3, 'stroke-dasharray': asks ? 'none' : '7 5'}, plane);
    const handle = knob(plane, {fill: colour, stroke: colour, 'aria-label': `The ${name}: drag it, or move it with the arrow keys`,
      'aria-valuemin': -end, 'aria-valuemax': end}, {at: () => vectors[number], go: to => move(number, to), place});
    const label = draw('text', {class: 'named', 'text-anchor': 'middle', style: `fill: ${colour}`}, plane);
    label.textContent = `${asks ? 'q' : 'k'} ${data.words[number % count]}`;
    return {line, handle, label, name};
  });
  const numbers = make('div', {className: 'numbers'}, view);
  const tables = ['Scores: query · key', 'Weights: softmax of each row'].map(caption => {
    make('p', {className: 'name', textContent: caption}, numbers);
    return table(caption, ['', ...data.words.map(word => `k ${word}`)], data.words.map(word => `q ${word}`), numbers);
  });
  let earlier = null, last = null;

  function move(number, to) {
    vectors[number] = to.map(part => Math.round(10 * Math.min(Math.max(part, -end), end)) / 10);
    last = number;
    show();
  }

  function show() {
    vectors.forEach((vector, number) => {
      const [x, y] = at(vector), {line, handle} = handles[number];
      set(line, {x2: x, y2: y});
      set(handle, {cx: x, cy: y, 'aria-valuenow': vector[0], 'aria-valuetext': `(${vector.join(', ')})`});
    });
    nameAll(handles.map(({label}, number) => ({label, at: at(vectors[number])})), [middle, middle], 340);
    const queries = vectors.slice(0, count), keys = vectors.slice(count);
    const scores = queries.map(query => keys.map(key => dot(query, key))), weights = scores.map(softmax);
    scores.forEach((row, query) => row.forEach((score, key) => {
      const cells = [tables[0][query][key], tables[1][query][key]];
      cells[0].textContent = two(score);
      cells[1].textContent = two(weights[query][key]);
      cells[0].classList.toggle('moved', earlier !== null && Math.abs(earlier[query][key] - score) > 1e-9);
      cells[1].style.background = `color-mix(in srgb, var(--weight) ${Math.round(45 * weights[query][key])}%, transparent)`;
    }));
    const told = data.words.map((word, query) => `“${word}” gives ${data.words.map((other, key) => `“${other}” ${two(weights[query][key])}`).join(', ')}`);
    said.textContent = `${last === null ? '' : `The ${handles[last].name} is (${vectors[last].map(two).join(', ')}). `}${told.join('; ')}.`;
    earlier = scores;
  }
  show();
