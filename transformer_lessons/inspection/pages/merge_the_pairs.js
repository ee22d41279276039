  // Lesson 9: byte pairs merged step by step, on a text that can be typed. A byte is a letter of a string here.
  const ranks = data.pairs && unpacked(data.pairs);  // of a published tokenizer: its next pair is that of lowest rank
  const label = make('label', {className: 'typed', textContent: 'Your text '}, stage);
  const field = make('textarea', {rows: 2, maxLength: 400, value: data.text}, label);
  const sliders = make('div', {className: 'sliders'}, stage);
  const merges = slider('Merges', {min: 0, max: data.most, step: 1, value: data.merges}, String, sliders, show);
  const buttons = make('div', {}, stage);
  const onward = make('button', {type: 'button', textContent: 'Merge the next pair', onclick: () => { merges.value += 1; show(); }}, buttons);
  const back = make('button', {type: 'button', textContent: 'From the start', onclick: () => { merges.value = 0; show(); }}, buttons);
  const all = ranks && make('button', {type: 'button', textContent: 'Merge them all', onclick: () => { merges.value = data.most; show(); }}, buttons);
  const tokens = make('div', {className: 'pieces', role: 'group', ariaLabel: 'The tokens'}, stage);
  const book = make('ol', {className: 'book', ariaLabel: 'The merges so far', tabIndex: 0, start: 0, style: `max-height: 6lh${ranks ? '; list-style: none' : ''}`}, stage);  // numbered by rank
  field.oninput = show;

  const bytes = word => String.fromCharCode(...new TextEncoder().encode(word));
  const visible = part => {
    const text = new TextDecoder().decode(Uint8Array.from(part, sign => sign.charCodeAt(0)));
    return text.includes('\ufffd') ? [...part].map(sign => sign.charCodeAt(0).toString(16)).join(' ') : text.replace(/ /g, '␣').replace(/\n/g, '⏎');
  };

  const times = count => count === 1 ? 'once' : `${count} times`;
  const why = ({count, rank}) => ranks ? `rank ${rank.toLocaleString('en-GB')}` : times(count);
  const sumOf = ({left, right}) => `${visible(left)} + ${visible(right)} → ${visible(left + right)}`;

  function unpacked(packed) {
    const signs = Uint8Array.from(atob(packed), sign => sign.charCodeAt(0)), view = new DataView(signs.buffer);
    const tokens = Array.from({length: 256}, (_, byte) => String.fromCharCode(byte)), ranks = new Map();
    for (let at = 0; at < signs.length; at += 4) {
      const left = tokens[view.getUint16(at, true)], right = tokens[view.getUint16(at + 2, true)];
      ranks.set(`${left}\uffff${right}`, ranks.size);
      tokens.push(left + right);
    }
    return ranks;
  }

  function wordsOf(text) {
    return data.digits ? text.split(/(\p{N})/u).flatMap(split) : split(text);  // every digit by itself
  }

  function split(text) {  // as GPT-2 does: a word keeps the space before it
    return text.match(/'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu) ?? [];
  }

  function countPairs(words) {
    const counts = new Map();
    for (const parts of words)
      for (let i = 1; i < parts.length; i++) {
        const pair = `${parts[i - 1]}\uffff${parts[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    return counts;
  }

  function mostFrequent(counts) {  // ties go to the larger pair
    let best = null;
    for (const [pair, count] of counts) {
      const [left, right] = pair.split('\uffff');
      const larger = best && (left > best.left || left === best.left && right > best.right);
      if (!best || count > best.count || count === best.count && larger) best = {left, right, count};
    }
    return best;
  }

  function lowest(counts) {
    let best = null;
    for (const [pair, count] of counts) {
      const rank = ranks.get(pair);
      if (rank === undefined || best && rank > best.rank) continue;
      const [left, right] = pair.split('\uffff');
      best = {left, right, count, rank};
    }
    return best;
  }

  const nextPair = words => (ranks ? lowest : mostFrequent)(countPairs(words));

  function merge(parts, {left, right}) {
    const merged = [];
    for (const part of parts) {
      if (merged.at(-1) === left && part === right) merged[merged.length - 1] += part;
      else merged.push(part);
    }
    return merged;
  }

  function show() {
    let words = wordsOf(field.value).map(word => [...bytes(word)]);
    const whole = words.flat().length, learned = [];
    while (learned.length < merges.value) {
      const pair = nextPair(words);
      if (!pair) break;
      learned.push(pair);
      words = words.map(parts => merge(parts, pair));
    }
    if (learned.length < merges.value) merges.value = learned.length;
    const next = nextPair(words), newest = learned.at(-1);
    onward.disabled = !next || learned.length === data.most;
    back.disabled = !learned.length;
    if (all) all.disabled = onward.disabled;
    tokens.replaceChildren(...words.flatMap(parts => parts.map((part, i) => {
      const fresh = newest && part === newest.left + newest.right;
      const paired = next && (part === next.left && parts[i + 1] === next.right || part === next.right && parts[i - 1] === next.left);
      return make('span', {className: `piece${part.length > 1 ? ' grown' : ''}${fresh ? ' fresh' : ''}${paired ? ' paired' : ''}`, textContent: visible(part)});
    })));
    book.replaceChildren(...learned.map(pair => make('li', {textContent: `${sumOf(pair)}, ${why(pair)}`})));
    book.scrollTop = book.scrollHeight;  // the newest are in sight, whole lines of them
    said.textContent = `${whole} bytes are ${words.flat().length} tokens after ${learned.length} ${learned.length === 1 ? 'merge' : 'merges'}. `
      + (next ? `Next: ${visible(next.left)} + ${visible(next.right)}, which ${ranks ? 'has' : 'occurs'} ${why(next)}.` : 'No pair is left.');
  }
  show();
