  // Lesson 11: an induction head made by hand. A head in the first layer notes at each token which one came before it; a head
  // in the second looks for a token that came after the current one, and copies it.
  const MOST = 18, first = data.tokens;
  hint('Press a word to change it', '', '. Below each stands what the head in the first layer has noted: the word before. Blue: where the last word looks. Dotted: the word that is noted there.');
  const sliders = make('div', {className: 'sliders'}, stage);
  const factor = slider('Scores ×', {min: 0, max: 10, step: 1, value: data.factor}, String, sliders, show);
  const row = make('div', {className: 'pieces', role: 'group', ariaLabel: 'The text, word by word'}, stage);
  row.style = 'position: relative; row-gap: 40px; padding-top: 40px';
  const arcs = draw('svg', {'aria-hidden': 'true', style: 'position: absolute; inset: 0; width: 100%; height: 100%; max-width: none; pointer-events: none'});
  const buttons = make('div', {}, stage);
  const write = make('button', {type: 'button', onclick: () => { tokens.push(best); show(); }}, buttons);
  const notes = make('button', {type: 'button', onclick: () => { noted = !noted; show(); }}, buttons);
  make('button', {type: 'button', textContent: 'Start again', onclick: () => { tokens = [...first]; noted = true; show(); }}, buttons);
  make('p', {className: 'name', textContent: 'The next word'}, stage);
  const chart = make('div', {style: 'max-width: 34rem'}, stage);
  const rows = data.words.map(word => {
    const line = make('div', {className: 'chance'}, chart);
    make('span', {textContent: word}, line);
    return {line, fill: bar(make('span', {}, line)), share: make('span', {}, line)};
  });
  let tokens = [...first], noted = true, best = 0;

  function cycle(place) {
    tokens[place] = (tokens[place] + 1) % data.words.length;
    show();
    row.children[place].focus();
  }

  // From the last word to those that it looks at, and from these to the word before, which they have noted.
  function look(weights, now, before) {
    arcs.replaceChildren();
    const line = (from, to, attributes) => {
      const [one, other] = [from, to].map(place => row.children[place]), middle = ({offsetLeft, offsetWidth}) => offsetLeft + offsetWidth / 2;
      const below = other.offsetTop < one.offsetTop, end = other.offsetTop + (below ? other.offsetHeight : 0), bend = below ? 30 : -36;
      draw('path', {d: `M${middle(one)} ${one.offsetTop}C${middle(one)} ${one.offsetTop - 36} ${middle(other)} ${end + bend} ${middle(other)} ${end}`,
        fill: 'none', 'stroke-linecap': 'round', ...attributes}, arcs);
    };
    weights.forEach((weight, place) => {
      if (weight > 0.02) line(tokens.length - 1, place, {stroke: 'var(--weight)', 'stroke-width': 0.8 + 5 * weight, opacity: 0.3 + 0.7 * weight});
      if (before[place] === now) line(place, place - 1, {stroke: 'var(--key)', 'stroke-width': 2.5, 'stroke-dasharray': '1 5'});
    });
  }
  let redraw = () => {};
  new ResizeObserver(() => redraw()).observe(row);

  function show() {
    const now = tokens.at(-1), before = tokens.map((_, place) => noted && place ? tokens[place - 1] : -1);
    const weights = softmax(before.map(word => factor.value * (word === now)));
    const shares = data.words.map((_, word) => sum(weights.map((weight, place) => tokens[place] === word ? weight : 0)));
    best = shares.indexOf(Math.max(...shares));
    row.replaceChildren(...tokens.map((token, place) => {
      const button = make('button', {type: 'button', className: 'piece', textContent: data.words[token], onclick: () => cycle(place)});
      button.style.background = `color-mix(in srgb, var(--weight) ${Math.round(50 * weights[place])}%, transparent)`;
      if (place === tokens.length - 1) button.style.borderColor = 'var(--query)';
      make('small', {textContent: before[place] < 0 ? '–' : `after ${data.words[before[place]]}`, style: before[place] === now ? 'font-weight: 700; color: inherit' : ''}, button);
      return button;
    }), arcs);
    redraw = () => look(weights, now, before);
    redraw();
    rows.forEach(({line, fill, share}, word) => {
      fill(shares[word]);
      line.style.fontWeight = word === best ? 600 : 400;
      share.textContent = two(shares[word]);
    });
    Object.assign(write, {textContent: `Write “${data.words[best]}”`, disabled: tokens.length >= MOST});
    notes.textContent = `First layer’s head: ${noted ? 'on' : 'off'}`;
    notes.setAttribute('aria-pressed', String(noted));
    const found = before.flatMap((word, place) => word === now ? [`“${data.words[tokens[place]]}” (${place})`] : []);
    said.textContent = `The last word, “${data.words[now]}”, looks for words that came after “${data.words[now]}”: `
      + (found.length ? `${found.join(', ')}. ` : noted ? 'there is none. ' : 'but nothing is noted, and it looks at all the words equally. ')
      + `The likeliest next word is “${data.words[best]}”, with ${two(shares[best])}.`;
  }
  show();
