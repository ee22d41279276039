  // Lesson 8: what a trained model would write next, under a temperature and a top-k; the many unlikely tokens count, too.
  const KS = [1, 2, 3, 5, 8, 12, 20, 50, 100, 500].filter(k => k < data.size).concat(data.size), count = text => text.toLocaleString('en-GB');
  const prompts = make('div', {role: 'group', ariaLabel: 'The text so far'}, stage);
  const picks = data.prompts.map(({text}, number) => make('button', {type: 'button', textContent: `“${text.trim()} …”`, onclick: () => { chosen = number; drawn = []; show(); }}, prompts));
  const sliders = make('div', {className: 'sliders'}, stage);
  const temperature = slider('Temperature', {min: 0, max: 20, step: 1, value: 10}, tenths => (tenths / 10).toFixed(1), sliders, change);
  const topK = slider('Top-k', {min: 0, max: KS.length - 1, step: 1, value: KS.length - 1}, at => KS[at] === data.size ? 'all' : count(KS[at]), sliders, change);
  const chart = make('div', {}, stage), shown = data.prompts[0].words.length;
  const rows = Array.from({length: shown + 1}, (_, place) => {
    const row = make('div', {className: place < shown ? 'chance' : 'chance rest'}, chart);
    return {row, word: make('span', {}, row), fill: bar(make('span', {}, row)), share: make('span', {}, row)};
  });
  const buttons = make('div', {style: 'margin-top: 10px'}, stage);
  make('button', {type: 'button', textContent: 'Draw 20 tokens', onclick: () => { drawn = Array.from({length: 20}, () => draw20()); show(); }}, buttons);
  const pieces = make('div', {className: 'pieces', role: 'group', ariaLabel: 'The tokens drawn'}, stage);
  let chosen = 0, drawn = [];

  function change() {
    drawn = [];
    show();
  }

  // The powers of the likeliest tokens, one by one, and of all others together. These stand in the data by tenths of
  // a logit, with the number of tokens that have it.
  function powers() {
    const {logits, rest} = data.prompts[chosen], heat = temperature.value / 10, most = heat ? KS[topK.value] : 1;
    const power = logit => heat ? Math.exp(logit / heat) : 1;
    const top = logits.map((logit, place) => place < most ? power(logit / 100) : 0);
    let left = Math.max(0, most - logits.length), others = 0, number = 0;
    for (const [tenths, many] of rest) {
      const taken = Math.min(many, left);
      others += taken * power(tenths / 10);
      number += taken;
      left -= taken;
    }
    return {all: [...top, others], number};
  }

  function draw20() {
    const {all} = powers();
    let place = Math.random() * sum(all), token = 0;
    while (token < shown && place >= all[token]) place -= all[token++];
    return token;
  }

  function show() {
    const {words} = data.prompts[chosen], {all, number} = powers(), shares = all.map(power => power / sum(all));
    const others = number ? `${number === data.size - shown ? 'the other ' : 'another '}${count(number)}` : 'all others';
    rows.forEach(({row, word, fill, share}, place) => {
      word.textContent = place < shown ? words[place] : others;
      fill(shares[place]);
      share.textContent = two(shares[place]);
      row.classList.toggle('cut', !shares[place]);
    });
    picks.forEach((button, number) => button.setAttribute('aria-pressed', String(number === chosen)));
    pieces.replaceChildren(...drawn.map(token => make('span', {className: token < shown ? 'piece grown' : 'piece', textContent: token < shown ? words[token] : '…'})));
    const far = drawn.filter(token => token === shown).length;
    const rest = number ? `${others} tokens have ${two(shares[shown])} together` : 'the unlikely tokens are cut off';
    said.textContent = `The likeliest token, “${words[0]}”, has probability ${two(shares[0])}; ${rest}. `
      + (drawn.length ? `Of 20 draws, ${far || 'none'} fell on ${far === 1 ? 'a token' : 'tokens'} that the list does not name${far ? ', shown as “…”' : ''}.` : number > 100 ? 'Each of them is unlikely, but there are many.' : '');
  }
  show();
