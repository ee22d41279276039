  // Lesson 6: a mask to edit by clicking; weights, outputs and leaks follow.
  const count = data.words.length, size = 34, left = 70, top = 46;
  const presets = {
    'No mask': () => true,
    'Causal': (query, key) => key <= query,
    'Sliding window of size 2': (query, key) => key <= query && key > query - 2,
    '“the” hidden': (query, key) => data.words[key] !== 'the',
    'All hidden': () => false,
  };
  const buttons = make('div', {role: 'group', ariaLabel: 'Masks to start from'}, stage);
  const starts = Object.entries(presets).map(([name, rule]) =>
    [make('button', {type: 'button', textContent: name, onclick: () => { fill(rule); show(); }}, buttons), rule]);
  const view = make('div', {className: 'view'}, stage);
  const grids = ['The mask: click the squares', 'The weights'].map((name, number) => {
    const side = make('div', {}, view);
    make('p', {className: 'name', textContent: name}, side);
    const wide = left + count * size;
    const picture = draw('svg', {viewBox: `0 0 ${wide} ${top + count * size}`, width: wide, height: top + count * size,
      role: number ? 'img' : 'group', 'aria-label': `${name}: queries down, keys across`}, side);
    data.words.forEach((word, i) => {
      const middle = size * (i + 0.5);
      draw('text', {x: left - 6, y: top + middle + 5, 'text-anchor': 'end'}, picture).textContent = word;
      draw('text', {transform: `translate(${left + middle + 4} ${top - 6}) rotate(-50)`}, picture).textContent = word;
    });
    return picture;
  });
  const place = (query, key) => ({x: left + key * size, y: top + query * size, width: size - 2, height: size - 2});
  const every = [...Array(count).keys()];
  let mask = [], here = [0, 0];
  const squares = every.map(query => every.map(key => {
    const square = draw('rect', {...place(query, key), class: 'handle', role: 'checkbox', stroke: 'var(--line)',
      fill: 'var(--weight)', 'aria-label': `${data.words[query]}, ${query}, sees ${data.words[key]}, ${key}`}, grids[0]);
    square.onclick = () => toggle(query, key);
    square.pressed = event => {
      const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (step) {
        here = [query, key].map((at, i) => Math.min(Math.max(at + step[i], 0), count - 1));
        show();
        squares[here[0]][here[1]].focus();
      } else if (event.key === ' ' || event.key === 'Enter') {
        toggle(query, key);
      } else return;
      event.preventDefault();
    };
    return square;
  }));
  const cells = every.map(query => every.map(key => ({
    square: draw('rect', {...place(query, key), stroke: 'var(--line)', 'stroke-width': 0.5, fill: 'var(--weight)'}, grids[1]),
    number: draw('text', {x: left + key * size + 3, y: top + query * size + 21, 'font-size': 12}, grids[1]),
  })));
  const numbers = make('div', {className: 'numbers'}, view);
  const rows = table('Outputs and leaks', ['query', 'output', 'sees ahead', 'through several layers'],
    data.words, numbers);
  const heads = [...numbers.querySelectorAll('thead th')].slice(2);  // they stand there when there is something to say

  function fill(rule) { mask = every.map(query => every.map(key => rule(query, key))); }

  function toggle(query, key) {
    mask[query][key] = !mask[query][key];
    here = [query, key];
    show();
  }

  function reach() {  // which tokens a position learns of when layers follow each other, each keeping its own token
    const seen = mask.map((row, query) => row.map((sees, key) => sees || query === key));
    for (const middle of every)
      for (const query of every)
        for (const key of every) seen[query][key] ||= seen[query][middle] && seen[middle][key];
    return seen;
  }

  function named(query) { return `“${data.words[query]}” (${query})`; }  // “the” occurs twice

  function show() {
    const seen = reach(), leaking = [];
    for (const query of every) {
      const allowed = every.filter(key => mask[query][key]);
      const shares = softmax(allowed.map(key => data.scores[query][key]));
      const weights = every.map(key => mask[query][key] ? shares[allowed.indexOf(key)] : 0);
      const output = blend(weights, data.values);
      const ahead = list => every.filter(key => key > query && list[key]).map(named).join(', ') || '–';
      rows[query][0].textContent = `(${output.map(two).join(', ')})`;
      rows[query][1].textContent = ahead(mask[query]);
      rows[query][2].textContent = ahead(seen[query]);
      if (every.some(key => key > query && seen[query][key])) leaking.push(named(query));
      for (const key of every) {
        const current = query === here[0] && key === here[1];
        set(squares[query][key], {'fill-opacity': mask[query][key] ? 0.8 : 0, 'aria-checked': mask[query][key],
          tabindex: current ? 0 : -1});
        set(cells[query][key].square, {'fill-opacity': 0.85 * weights[key]});
        set(cells[query][key].number, {style: weights[key] > 0.85 ? 'fill: var(--paper)' : ''});
        cells[query][key].number.textContent = two(weights[key]);
      }
    }
    heads.forEach((head, column) => {
      const empty = rows.every(row => row[column + 1].textContent === '–');
      [head, ...rows.map(row => row[column + 1])].forEach(cell => { cell.hidden = empty; });
    });
    starts.forEach(([button, rule]) => button.setAttribute('aria-pressed',
      String(every.every(query => every.every(key => mask[query][key] === rule(query, key))))));
    const blind = every.filter(query => !mask[query].some(Boolean)).map(named);
    said.textContent = (leaking.length ? `Information about later words leaks into: ${leaking.join(', ')}.` : 'No word learns anything about later words.')
      + (blind.length ? ` These have nothing to attend to, so their weights and outputs are 0: ${blind.join(', ')}.` : '');
  }
  fill(presets.Causal);
  show();
