  // Lesson 10: query heads that share heads of keys and values, which copies they get, and what the cache takes.
  const {heads, layers, features} = data, every = [...Array(heads).keys()], counts = every.map(number => number + 1).filter(number => heads % number === 0);
  const wide = 44, [top, bottom] = [42, 190], colours = ['var(--weight)', 'var(--query)', 'var(--key)', 'var(--output)'];
  const sliders = make('div', {className: 'sliders'}, stage);
  const shared = slider('KV heads', {min: 0, max: counts.length - 1, step: 1, value: counts.indexOf(data.key_heads)}, at => String(counts[at]), sliders, show);
  const length = slider('Tokens in the cache', {min: 8, max: 15, step: 1, value: 13}, power => (2 ** power).toLocaleString('en-GB'), sliders, show);
  const buttons = make('div', {role: 'group', ariaLabel: 'The order of the copies'}, stage);
  const orders = {
    'repeat_interleave: all copies of a head first': (query, group) => Math.floor(query / group),
    'repeat: the heads in turn': (query, group, many) => query % many,
  };
  const picks = Object.entries(orders).map(([name, order]) => make('button', {type: 'button', textContent: name, onclick: () => { chosen = order; show(); }}, buttons));
  const picture = draw('svg', {viewBox: `-12 0 ${heads * wide + 102} 232`, width: heads * wide + 102, role: 'img'}, stage);
  const write = (x, y, text, anchor = 'middle') => Object.assign(draw('text', {x, y, 'text-anchor': anchor}, picture), {textContent: text});
  const xOf = (place, many) => 84 + wide * (heads * (place + 0.5) / many);
  write(72, top + 5, 'query heads', 'end');
  write(72, bottom + 5, 'KV heads', 'end');
  const lines = every.map(query => draw('line', {x1: xOf(query, heads), y1: top + 15, y2: bottom - 15, 'stroke-width': 3}, picture));
  const asking = every.map(query => {
    write(xOf(query, heads), top - 24, query);
    return draw('circle', {cx: xOf(query, heads), cy: top, r: 14}, picture);
  });
  const answering = every.map(() => ({box: draw('rect', {y: bottom - 14, width: 28, height: 28, rx: 6}, picture), label: write(0, bottom + 33, '')}));
  const chart = make('div', {style: 'max-width: 34rem'}, stage);
  const rows = counts.map(() => {
    const row = make('div', {className: 'chance', style: 'grid-template-columns: 6em minmax(0, 1fr) 7em'}, chart);
    return {row, name: make('span', {}, row), fill: bar(make('span', {}, row)), size: make('span', {}, row)};
  });
  const hue = (angle, light) => `light-dark(oklch(${0.42 + 0.12 * light} 0.12 ${angle}), oklch(${0.7 + 0.12 * light} 0.11 ${angle}))`;
  let chosen = Object.values(orders)[0];

  const mebibytes = many => 2 * layers * many * features * 2 ** length.value * 2 / 2 ** 20;  // keys and values, two bytes a number

  function show() {
    const many = counts[shared.value], group = heads / many, used = every.map(query => chosen(query, group, many));
    const colour = head => many > colours.length ? hue(40 * head, head % 2) : colours[head];
    every.forEach(query => {
      set(lines[query], {x2: xOf(used[query], many), stroke: colour(used[query])});
      set(asking[query], {fill: colour(used[query])});
      const {box, label} = answering[query], head = Math.min(query, many - 1), visibility = head === query ? 'visible' : 'hidden';
      set(box, {x: xOf(head, many) - 14, fill: colour(head), visibility});
      set(label, {x: xOf(head, many), visibility});
      label.textContent = query;
    });
    picks.forEach((button, place) => button.setAttribute('aria-pressed', String(Object.values(orders)[place] === chosen)));
    const told = `Query heads 0 to ${heads - 1} use KV heads ${used.join(', ')}.`;
    set(picture, {'aria-label': told});
    rows.forEach(({row, name, fill, size}, place) => {
      name.textContent = `${counts[place]} KV ${counts[place] > 1 ? 'heads' : 'head'}`;
      fill(counts[place] / heads);
      size.textContent = `${mebibytes(counts[place]).toFixed(1)} MiB`;
      row.style.fontWeight = counts[place] === many ? 600 : 400;
    });
    const kind = {[1]: 'all of them share it (multi-query attention)', [heads]: 'each has its own (multi-head attention)'}[many]
      ?? `each KV head serves ${group} query heads (grouped-query attention)`;
    said.textContent = `${heads} query heads and ${many} KV ${many > 1 ? 'heads' : 'head'}: ${kind}. ${told} For ${(2 ** length.value).toLocaleString('en-GB')} tokens the cache takes ${mebibytes(many).toFixed(1)} MiB.`
      + (chosen === Object.values(orders)[0] || used.every((head, query) => head === Math.floor(query / group)) ? '' : ' That is the wrong order: a query head gets keys that it was not trained with.');
  }
  show();
