// A model at work in a page: what it reads, where its heads look, what it may write next. lessons.show(root, a model as readModel returns it,
// its line, its temperature, the dice for the first tokens after the line, and a picture of the text that stays in the page, if there is one)
lessons.show = (root, {model, vocabulary, count}, opening = 'What is love?', warmth = 0.8, dice = [], picture = null) => {
  const {num_heads: heads, num_layers: layers, max_length: most, vocabulary_size: size} = model.architecture;
  const EXAMPLES = ['O Romeo, Romeo,', 'Shall I compare thee', 'Enter Ghost.', 'My lord, I love'];
  const SHOWN = 8, LONGEST = 400, ROOM = 80, TOP_K = [1, 2, 3, 5, 10, 20, 40, 100].filter(k => k < size).concat(size), SPEEDS = [4, 12, 30, Infinity];

  // The text: tokens, how each came to be there, and what the model made of it. Of steps, the first `valid` still hold,
  // and of ids, the first `verified` are what the dice give; the first `held` stay as they are, whatever the dice give now.
  let ids = [], origins = [], draws = [], steps = [], valid = 0, verified = 0, held = 0, goal = 0, prompt = 0;
  let cache = model.newCache(), start = 0, filled = 0;  // keys and values of ids[start] to ids[start + filled - 1]
  let asked = null;  // the place of the token that was chosen to be looked at; null: the last one
  let layer = Math.min(1, layers - 1), head = Math.min(6, heads - 1), stage = layers, silent = Array.from({length: layers}, () => new Set());
  let pace = {tokens: 0, time: 0};

  // --- what is seen ---

  const flow = root.querySelector('.flow'), readers = picture?.heads ?? [];  // the head of each layer that is drawn there
  root.replaceChildren();
  const ask = make('form', {className: 'ask'}, root);
  const line = make('input', {name: 'line', autocomplete: 'off', spellcheck: false, value: opening, maxLength: 300},
    make('label', {textContent: 'Type a line'}, ask));
  const write = make('button', {className: 'go'}, ask);
  const again = make('button', {type: 'button', textContent: 'Write another', title: 'The same line with other dice'}, ask);
  const stepOn = make('button', {type: 'button', textContent: 'One token'}, ask);
  const notice = make('p', {className: 'notice', role: 'status', hidden: true}, ask);  // why nothing is written, or something else than expected
  const examples = make('p', {className: 'examples', textContent: 'Or '}, root);
  for (const example of EXAMPLES) make('button', {type: 'button', textContent: example, onclick: () => begin(example)}, examples);

  if (flow) root.append(flow);
  const reading = make('div', {className: 'reading'}, root);
  const text = make('div', {className: 'text', role: 'listbox', ariaLabel: 'The text, token by token: arrow keys move, Enter returns to the end'}, reading);
  const told = make('p', {className: 'told'}, reading);

  const attention = make('div', {className: 'attention'}, root);
  make('h2', {textContent: `The ${layers * heads} attention heads`}, attention);
  make('p', {textContent: 'Each square is a head: queries down, keys across. Choose one, and it shades the text.'}, attention);
  const grid = make('div', {className: 'grid', role: 'radiogroup', ariaLabel: 'Attention heads, a row for each layer'}, attention);
  grid.style.setProperty('--heads', heads);
  const maps = Array.from({length: layers}, (_, layer) => Array.from({length: heads}, (_, head) => {
    if (!head) make('span', {className: 'row', textContent: `layer ${layer}`, ariaHidden: true}, grid);
    const label = make('label', {className: 'head'}, grid);
    const input = make('input', {type: 'radio', name: `head-${root.id}`, ariaLabel: `Layer ${layer}, head ${head}`, onchange: () => choose(layer, head)}, label);
    const canvas = make('canvas', {width: most, height: most, ariaHidden: true}, make('span', {className: 'map'}, label));
    return {label, input, pen: canvas.getContext('2d')};
  }));
  const known = make('div', {className: 'known', role: 'group', ariaLabel: 'Heads with a habit'}, attention), habit = make('p', {className: 'habit'}, attention);
  const mute = make('div', {className: 'mute'}, attention);
  const muteHead = make('button', {type: 'button', onclick: () => silence([[layer, head]])}, mute);
  const muteLayer = make('button', {type: 'button', onclick: () => silence(Array.from({length: heads}, (_, head) => [layer, head]))}, mute);
  const unmute = make('button', {type: 'button', textContent: 'Restore all heads', onclick: () => { silent.forEach(set => set.clear()); held = 0; changed(); }}, mute);
  const compared = make('p', {className: 'compared'}, attention);
  const rewrite = make('button', {type: 'button', className: 'rewrite', textContent: 'Write the text again without them', title: 'The same line and the same dice',
    hidden: true, onclick: () => { held = 0; redraw(); }}, attention);
  const said = make('output', {className: 'said'}, attention);

  const next = make('div', {className: 'next'}, root), likely = flow?.querySelector('.likely') ?? next;
  likely.replaceChildren();
  const question = make('h2', {}, likely);
  const bars = make('div', {className: 'bars', role: 'group', ariaLabel: 'The likeliest next tokens: press one to write it'}, likely);
  const candidates = Array.from({length: Math.min(SHOWN, size)}, () => {
    const button = make('button', {type: 'button', className: 'candidate'}, bars);
    return {button, word: make('b', {}, button), bar: make('i', {}, make('span', {className: 'bar'}, button)), was: make('s', {hidden: true, ariaHidden: true}, button.lastChild), share: make('span', {className: 'share'}, button)};
  });
  const sliders = make('div', {className: 'sliders'}, next);
  const temperature = slider('Temperature', {max: 200, step: 5, value: Math.round(100 * warmth)}, at => (at / 100).toFixed(2), redraw);
  const topK = slider('Top-k', {max: TOP_K.length - 1, step: 1, value: TOP_K.length - 1}, at => TOP_K[at] === size ? 'all' : String(TOP_K[at]), redraw);
  const speed = slider('Speed', {max: SPEEDS.length - 1, step: 1, value: 1}, at => SPEEDS[at] === Infinity ? 'full' : `${SPEEDS[at]} a second`, () => {});
  const lens = make('fieldset', {className: 'lens'}, next);
  make('legend', {textContent: 'What it would say if it stopped after (logit lens):'}, lens);
  const stages = Array.from({length: layers + 1}, (_, number) => {
    const label = make('label', {}, lens);
    const input = make('input', {type: 'radio', name: `stage-${root.id}`, checked: number === layers, onchange: () => { stage = number; draw(); }}, label);
    make('span', {textContent: number ? `layer ${number - 1}` : 'no layer'}, label);
    return {input, word: make('b', {}, label)};
  });
  for (const [name, meaning] of [
    ['Temperature', 'a low one keeps to the likeliest token, a high one gives the others more of a chance.'],
    ['Top-k', 'only the k likeliest may be chosen.'],
    ['Logit lens', 'what the model would say if it stopped after that layer. After no layer, it has only read the token itself.'],
  ]) make('p', {className: 'terms'}, next).append(make('b', {textContent: `${name}: `}), meaning);
  const facts = make('p', {className: 'pace'}, root);
  let spans = [], busy = false, named = 0, extra = 0, seen = '';

  function make(kind, properties, parent) {
    const element = Object.assign(document.createElement(kind), properties);
    parent?.append(element);
    return element;
  }

  function slider(name, {max, step, value}, say, change) {
    const label = make('label', {textContent: `${name} `}, sliders), shown = make('output', {}, label);
    const input = make('input', {type: 'range', min: 0, max, step, value}, label);
    const follow = () => {
      shown.textContent = say(+input.value);
      input.setAttribute('aria-valuetext', shown.textContent);
    };
    input.value = value;
    input.oninput = () => { follow(); change(); };
    follow();
    return {input, get value() { return +input.value; }};
  }

  const visible = words => words.replace(/\n/g, '⏎').replace(/\t/g, '⇥').replace(/^ +| +$/g, spaces => '␣'.repeat(spaces.length)) || '∅';
  const word = id => vocabulary.decode([id]);
  const byte = id => {  // a token that is no character, but a part of one, or a sign that is not seen
    const signs = vocabulary.tokens[id];
    return signs?.length === 1 && /[\ufffd\x00-\x09\x0b-\x1f\x7f]/.test(word(id)) ? `byte ${signs[0].toString(16).toUpperCase().padStart(2, '0')}` : null;
  };
  const nameOf = id => ({' ': 'space', '\n': 'new line'})[word(id)] ?? byte(id) ?? visible(word(id));
  const quoted = id => ({' ': 'a space', '\n': 'a new line', '\'': 'an apostrophe', '’': 'an apostrophe', '"': 'a quotation mark', '“': 'a quotation mark', '”': 'a quotation mark'})[word(id)] ?? byte(id) ?? `“${visible(word(id))}”`;
  const placed = at => {  // which space it is: the one after a word
    const name = quoted(ids[at]), before = at && quoted(ids[at - 1]);
    return !name.startsWith('a ') ? name : before && !before.startsWith('a ') ? `the ${name.slice(2)} after ${before}` : name;
  };
  const percent = share => share >= 0.0995 ? `${Math.round(100 * share)} %` : share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : share > 0 ? '<0.1 %' : '0 %';

  // --- what is computed ---

  const chancesAt = logits => lessons.chances(logits, temperature.value / 100, TOP_K[topK.value]);

  let whole = 0;  // tokens of the line, of which the page reads as many as leave room for an answer
  function read(words) {  // another prompt: what it shares with the text before is not read again
    const all = vocabulary.encode(words.trim() ? words : '\n\n'), tokens = all.slice(0, LONGEST - ROOM);
    whole = all.length;
    seen = words;
    let same = 0;
    while (same < prompt && same < tokens.length && ids[same] === tokens[same]) same++;
    ids = [...tokens];
    prompt = ids.length;
    origins = ids.map(() => 'prompt');
    stale(same);
    goal = prompt;
    held = 0;
    asked = null;
  }

  function stale(from) {
    valid = Math.min(valid, from);
    filled = Math.max(0, Math.min(filled, from - start));
  }

  // The dice's token. No space is ever written after a space, which would end some texts in a row of spaces: where the
  // dice give one, they are read again as if there were no such token. (The finished implementation leaves nothing out.)
  const spaced = vocabulary.tokens.flatMap((_, id) => /^ |  /.test(word(id)) ? [id] : []);
  function drawNext(at) {
    const {logits} = steps[at - 1], token = lessons.sampleNext(chancesAt(logits), draws[at]), after = word(ids[at - 1]).endsWith(' ');
    const barred = id => after ? /^ |  /.test(word(id)) : word(id).includes('  ');
    if (!barred(token)) return token;
    const others = Float32Array.from(logits);
    spaced.filter(barred).forEach(id => { others[id] = -Infinity; });
    return lessons.sampleNext(chancesAt(others), draws[at]);
  }

  // One unit of work: a token is read, and the next one drawn; true if there was any to do.
  function work() {
    if (verified < valid) {
      const at = verified++;
      if (origins[at] !== 'written' || at < held) return true;
      const token = drawNext(at);
      if (token !== ids[at]) stale(at);
      ids[at] = token;
      return true;
    }
    if (valid >= ids.length) {
      if (valid >= goal) return false;
      draws[valid] ??= Math.random();
      ids[valid] = drawNext(valid);
      origins[valid] = 'written';
    }
    const from = windowStart(valid + 1);
    if (from !== start) [start, filled] = [from, 0];
    const place = start + filled, step = model.forward(ids[place], cache, filled++, silent);
    if (place < valid) return true;  // the older half has been forgotten: what is left is read again, as if it began there
    steps[valid++] = {...step, start};
    verified = valid;
    pace.tokens++;
    drawRows(valid - 1);
    if (valid < ids.length && valid >= held && origins[valid] === 'written')  // under another temperature, or without a head
      ids[valid] = drawNext(valid);
    return true;
  }

  const windowStart = length => {
    const move = most - Math.floor(most / 2);
    return Math.max(0, Math.ceil((length - most) / move)) * move;
  };  // as in sampling.py

  // While heads are silent, the same text is also read with all of them: what they said about every next token so far.
  let sounding = {ids: [], logits: [], cache: null, start: 0, filled: 0};
  const muted = () => silent.some(set => set.size);
  function remember() {  // what has been read with all heads
    sounding = {ids: ids.slice(0, valid), logits: steps.slice(0, valid).map(step => step.logits), cache: model.newCache(), start: 0, filled: 0};
  }

  function behind() {  // is any of it still to be read? What followed another token counts no more
    const {ids: read, logits} = sounding;
    let same = 0;
    while (same < read.length && same < valid && read[same] === ids[same]) same++;
    if (same < read.length) {
      read.length = logits.length = same;
      sounding.filled = Math.max(0, Math.min(sounding.filled, same - sounding.start));
    }
    return muted() && same < valid;
  }

  function compare() {  // one unit of this work; true if there was any to do
    if (!behind()) return false;
    const next = sounding.ids.length, from = windowStart(next + 1);
    if (from !== sounding.start) [sounding.start, sounding.filled] = [from, 0];
    const place = sounding.start + sounding.filled, {logits} = model.forward(ids[place], sounding.cache, sounding.filled++);
    if (place < next) return true;  // its keys and values had been forgotten
    sounding.ids.push(ids[place]);
    sounding.logits.push(logits);
    return true;
  }

  // What the silence costs on the text as it stands: the loss in bits a token, and the token whose chance falls the most.
  function cost() {
    let before = 0, now = 0, worst = {fall: 0};
    for (let at = 1; at < valid; at++) {
      const [all, left] = [sounding.logits[at - 1], steps[at - 1].logits].map(logits => lessons.chances(logits, 1)[ids[at]]);
      before -= Math.log2(all) / (valid - 1);
      now -= Math.log2(left) / (valid - 1);
      if (all - left > worst.fall) worst = {fall: all - left, at, all, left};
    }
    return {before, now, worst};
  }

  // Which heads have a habit, in this text: where they look on average, and of all heads this one the most.
  const HABITS = [
    {button: 'Looks at the token before', name: 'the token before', back: 1, sees: 'a bright line just below the diagonal'},
    {button: 'Looks at itself', name: 'the token itself', back: 0, sees: 'a bright diagonal'},
    {button: 'Looks two tokens back', name: 'the token two back', back: 2, sees: 'a bright line two squares below the diagonal'},
  ];
  function findHabits() {
    const read = steps.slice(0, valid).map((step, at) => ({weights: step.weights, row: at - step.start})).filter(({row}) => row > 2);
    if (read.length < 8) return;
    const all = maps.flat().map((_, at) => [Math.floor(at / heads), at % heads]);
    for (const one of HABITS) {
      const means = all.map(([l, h]) => read.reduce((sum, {weights, row}) => sum + weights[l][h][row - one.back], 0) / read.length);
      one.share = Math.max(...means);
      one.at = all[means.indexOf(one.share)];
    }
    showHabits();
  }

  function showHabits() {
    known.hidden = !HABITS[0].at;
    if (known.hidden) return;
    let told = '';
    HABITS.forEach(({button: words, name, at: [l, h], share, sees}, number) => {
      const button = known.children[number] ?? make('button', {type: 'button', textContent: words}, known), chosen = l === layer && h === head;
      button.onclick = () => choose(...HABITS[number].at);
      button.ariaPressed = String(chosen);
      if (chosen) told = `Layer ${l}, head ${h} gives ${name} ${percent(share)} of its weight here, on average, more than any other head: ${sees}.`;
    });
    habit.textContent = told || 'Three heads with a habit: press one, and see what to look for.';
  }

  // The same dice under another temperature or top-k: up to the first token that differs, all stays.
  function redraw() {
    verified = prompt;
    held = 0;
    wake();
    if (valid) drawBars(steps[current()]);
  }

  function changed(everything = true) {  // a head falls silent: all is read again, and written again with the same dice
    if (everything) stale(0);
    draw();
    wake();
  }

  function silence(which) {
    const sound = which.some(([layer, head]) => !silent[layer].has(head));
    if (!muted()) remember();
    which.forEach(([layer, head]) => silent[layer][sound ? 'add' : 'delete'](head));
    held = muted() ? ids.length : 0;  // the text stays, to compare what the model makes of it; with all its heads it is as it was
    changed();
  }

  function put(token) {  // the reader's own choice of the next token; what follows is written anew
    const at = current() + 1;
    if (at >= LONGEST) return;
    ids[at] = token;
    origins[at] = 'chosen';
    held = Math.min(held, at);
    goal = Math.max(goal, Math.min(at + 1, LONGEST));
    stale(at);
    asked = null;
    wake();
  }

  // --- the clock: so many tokens a second, or as many as fit into a frame ---

  let owed = 0, before = 0;
  function wake() {
    if (busy) return;
    busy = true;
    said.textContent = 'Writing …';  // what it said before is no longer so
    before = performance.now();
    requestAnimationFrame(frame);
  }

  function frame(now) {
    const begin = performance.now(), rate = SPEEDS[speed.value];
    owed = Math.min(owed + (now - before) / 1000 * rate, 8);
    before = now;
    let more = true;
    while (more && performance.now() - begin < 12) {
      const writing = valid >= ids.length && ids.length < goal;
      if (writing && owed < 1) break;
      if (writing && rate < Infinity) owed--;
      more = work();
    }
    pace.time += performance.now() - begin;
    if (pace.tokens > 40)
      facts.textContent = `${layers} layers, ${heads} heads in each, ${count.toLocaleString('en')} weights. A token takes ${(pace.time / pace.tokens).toFixed(0)} ms here, in plain JavaScript.`;
    draw();
    if (!more && extra > 0 && ids.length < LONGEST && Math.max(...chancesAt(steps[valid - 1].logits)) > 0.6) {
      extra--;  // it ends where the next token is open
      goal++;
      more = true;
    }
    if (!more) do more = compare(); while (more && performance.now() - begin < 12);
    if (more) return requestAnimationFrame(frame);
    busy = false;
    extra = 0;
    named = 0;
    findHabits();
    draw();
    speak();
  }

  // --- what is drawn ---

  const current = () => Math.min(asked ?? Infinity, Math.max(0, valid - 1));

  function drawRows(query) {  // a token's row in the map of every head: its root, so that small weights are seen, too
    const step = steps[query], row = query - step.start;
    const ink = getComputedStyle(grid).color.match(/[\d.]+/g).slice(0, 3);
    for (let l = 0; l < layers; l++)
      for (let h = 0; h < heads; h++) {
        const {pen} = maps[l][h], pixels = pen.createImageData(most, 1);
        step.weights[l][h].forEach((weight, key) => {
          pixels.data.set(ink, 4 * key);
          pixels.data[4 * key + 3] = 255 * Math.sqrt(weight);
        });
        pen.putImageData(pixels, 0, row);
      }
  }

  function draw() {
    const query = current(), step = steps[query], writing = ids.length < goal || valid < ids.length;
    notify();
    write.textContent = writing && ids.length > prompt ? 'Pause' : ids.length > prompt ? 'Write on' : 'Write';
    while (spans.length > ids.length) spans.pop().remove();
    ids.forEach((id, at) => {
      const span = spans[at] ??= make('span', {role: 'option', tabIndex: -1, className: 'token'}, text);
      if (span.id_ !== id) {
        span.id_ = id;
        span.replaceChildren(...word(id).split(/(?=\n)/).flatMap(part => part.startsWith('\n') ? [make('i', {}), part] : [part]));
        span.ariaLabel = nameOf(id);
      }
      const name = `token ${origins[at]}${at >= valid ? ' stale' : ''}${at === query ? ' query' : ''}`;
      if (span.className !== name) {
        span.className = name;
        span.ariaSelected = at === query;
        span.tabIndex = at === query ? 0 : -1;
      }
    });
    if (asked === null && busy) text.scrollTop = text.scrollHeight;
    if (!step) return;
    const weights = step.weights[layer][head];
    spans.forEach((span, at) => {
      const weight = weights[at - step.start] ?? 0;
      if (span.weight_ !== weight) span.style.setProperty('--dark', Math.sqrt(span.weight_ = weight));
    });
    grid.style.setProperty('--zoom', most / Math.max(8, Math.min(most, valid - step.start)));
    maps.flat().forEach(({label, input}, at) => {
      const l = Math.floor(at / heads), h = at % heads;
      input.checked = l === layer && h === head;
      label.classList.toggle('silent', silent[l].has(h));
    });
    muteHead.textContent = silent[layer].has(head) ? `Restore layer ${layer}, head ${head}` : `Silence layer ${layer}, head ${head}`;
    muteLayer.textContent = silent[layer].size === heads ? `Restore layer ${layer}` : `Silence all of layer ${layer}`;
    unmute.disabled = silent.every(set => !set.size);
    drawBars(step);
    drawPicture(query, step);
    tell(query, step, weights);
    showHabits();
    contrast();
  }

  function notify() {
    const full = ids.length >= LONGEST, left = ids.length - valid, reads = busy && valid < prompt && left > 20;
    const told = [
      !line.value.trim() && 'The line is empty, so the model reads two new lines in its place. Type something, or take one of the examples.',
      reads && `Reading the line: ${valid - valid % 20} of ${prompt} tokens.`,
      whole > prompt && `The line has ${whole} tokens; only the first ${prompt} are read, to leave room for what follows.`,
      full && !busy && `The text is full: it ends at ${LONGEST} tokens. Press Write another, or type another line.`,
      ids.slice(0, prompt).some(byte) && 'A sign that the model has no token for is read byte by byte; each byte is shown as �.',
    ].filter(Boolean).join(' ');
    if (notice.textContent !== told) notice.textContent = told;
    notice.hidden = !told;
    write.disabled = full && !busy;
    stepOn.disabled = full;
  }

  function contrast() {  // what the model makes of the same text with all heads, and without the silent ones
    rewrite.hidden = !muted() || busy || held < ids.length;
    compared.hidden = !muted();
    spans.forEach(span => span.classList.remove('hurt'));
    if (compared.hidden) return;
    if (busy) return compared.textContent = 'Reading the text with all heads and without the silent ones, to compare …';
    const {before, now, worst} = cost(), quiet = silent.reduce((sum, set) => sum + set.size, 0);
    compared.textContent = `Loss on this text: ${before.toFixed(2)} bits a token with all heads, ${now.toFixed(2)} without the ${quiet === 1 ? 'silent one' : `${quiet} silent ones`}.`
      + (worst.fall > 0.005 ? ` ${placed(worst.at)[0].toUpperCase()}${placed(worst.at).slice(1)} loses the most: ${percent(worst.all)} before, ${percent(worst.left)} now.` : '');
    if (worst.fall > 0.005) spans[worst.at].classList.add('hurt');
  }

  function drawPicture(query, step) {
    if (!picture) return;
    const words = ids.map(word);
    flow.classList.toggle('moves', !busy || SPEEDS[speed.value] < 10);
    picture.draw({words, x: picture.middles(words), prompt, token: query, level: stage, leaves: true, own: readers,
      weight: (layer, head, key) => silent[layer].has(head) ? 0 : step.weights[layer][head][key - step.start] ?? 0});
  }

  function drawBars(step) {
    const logits = stage === layers ? step.logits : model.readOut(step.residuals[stage]);
    const shares = chancesAt(logits), best = largest(logits, candidates.length);
    const all = muted() && stage === layers && sounding.logits[current()], before = all && chancesAt(all);
    question.textContent = `${asked === null ? 'The next token' : `After ${quoted(ids[current()])}`}${before ? ': with all heads → now' : ''}`;
    bars.classList.toggle('both', Boolean(before));
    const chosen = asked === null ? undefined : ids[current() + 1];
    best.forEach((id, place) => {
      const {button, word: name, bar, was, share} = candidates[place], own = nameOf(id);
      button.id_ = id;
      name.textContent = own;
      bar.style.transform = `scaleX(${shares[id]})`;
      share.textContent = before ? ` ${percent(before[id])} → ${percent(shares[id])}` : ` ${percent(shares[id])}`;
      was.hidden = !before;
      if (before) was.style.left = `${100 * before[id]}%`;
      button.classList.toggle('cut', !shares[id]);
      button.classList.toggle('taken', id === chosen);
    });
    if (busy && performance.now() - named < 300) return;
    named = performance.now();
    stages.forEach(({word: name}, number) => {
      const logits = number === layers ? step.logits : model.readOut(step.residuals[number]);
      name.textContent = nameOf(largest(logits, 1)[0]);
    });
  }

  function largest(numbers, many) {  // the places of the largest, in order
    const best = [];
    for (let at = 0; at < numbers.length; at++) {
      if (best.length === many && numbers[at] <= numbers[best[many - 1]]) continue;
      let place = best.length;
      while (place && numbers[at] > numbers[best[place - 1]]) place--;
      best.splice(place, 0, at);
      if (best.length > many) best.pop();
    }
    return best;
  }

  function tell(query, step, weights) {
    const strongest = largest(weights, 3).filter(key => weights[key] >= 0.005);
    const looks = strongest.map(key => `${placed(step.start + key)} ${weights[key].toFixed(2)}`).join(', '), asking = placed(query);
    told.textContent = `${asking[0].toUpperCase()}${asking.slice(1)} looks at ${looks} in layer ${layer}, head ${head}${silent[layer].has(head) ? ', which is silent' : ''}.`;
  }

  function speak() {  // for those who hear the page, once it rests
    const quiet = silent.reduce((sum, set) => sum + set.size, 0);
    said.textContent = `${ids.length} tokens${quiet ? `, ${quiet} of ${layers * heads} heads silent` : ''}. `
      + `After ${quoted(ids[current()])}: ${candidates.slice(0, 3).map(({word: name, share}) => name.textContent + share.textContent).join(', ')}.`;
  }

  // --- what is done ---

  function choose(l, h) {
    [layer, head] = [l, h];
    readers[l] = h;
    draw();
  }

  function look(at) {
    asked = at === null || at >= valid - 1 && at >= ids.length - 1 ? null : Math.min(Math.max(at, 0), valid - 1);
    draw();
    if (muted()) wake();
    if (!busy) speak();
  }

  function begin(words) {
    line.value = words;
    read(words);
    goal = Math.min(LONGEST, prompt + ROOM);
    extra = 8;
    changed(false);
  }

  line.oninput = () => {
    read(line.value);
    changed(false);
  };
  ask.onsubmit = event => {
    event.preventDefault();
    if (line.value !== seen) read(line.value);
    if (!line.value.trim()) return changed(false);
    const writing = ids.length > prompt && ids.length < goal;
    goal = writing ? ids.length : Math.min(LONGEST, ids.length + ROOM);
    extra = writing ? 0 : 8;
    asked = null;
    changed(false);
  };
  again.onclick = () => {
    draws = [];
    ids.length = origins.length = prompt;
    held = 0;
    stale(prompt);
    goal = Math.max(goal, Math.min(LONGEST, prompt + ROOM));
    asked = null;
    changed(false);
  };
  stepOn.onclick = () => {
    goal = Math.min(LONGEST, ids.length + 1);
    extra = 0;
    owed = 1;
    asked = null;
    changed(false);
  };
  text.onclick = event => {
    const at = spans.indexOf(event.target.closest('.token'));
    if (at < 0) return;
    look(at);
    spans[current()].focus({preventScroll: true});
  };
  text.onkeydown = event => {
    const at = {ArrowLeft: current() - 1, ArrowUp: current() - 1, ArrowRight: current() + 1, ArrowDown: current() + 1, Home: 0, End: null, Enter: null}[event.key];
    if (at === undefined) return;
    event.preventDefault();
    look(at);
    spans[current()].focus();
  };
  bars.onclick = event => {
    const button = event.target.closest('.candidate');
    if (button) put(button.id_);
  };
  const repaint = () => { for (let at = 0; at < valid; at++) drawRows(at); };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  new MutationObserver(repaint).observe(document.body, {attributeFilter: ['data-theme']});
  begin(opening);
  draws = [...Array(prompt), ...dice];
  return {  // for tests
    model, get ids() { return ids; }, get busy() { return busy; },
  };
};
