// Finds things by their words: every word must begin a word in the title or the text. FOUND holds the things.
globalThis.finder = (() => {
  const plain = text => text.toLowerCase().normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  const things = FOUND.map(([kind, title, address, text]) =>
    ({kind, title, address, text, named: ` ${plain(kind === 'lesson' && !address.includes('#') ? `lesson ${title}` : title)}`, told: ` ${plain(text)}`}));

  const begins = (text, word) => {
    const at = text.search(new RegExp(`[^\\p{L}\\p{N}]${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'u'));
    return at < 0 ? -1 : at + 1;
  };

  function score(thing, words, missing = 0) {
    let sum = 0;
    for (const word of words) {
      const named = begins(thing.named, word) >= 0;
      if (!named && begins(thing.told, word) < 0) {
        if (--missing < 0) return 0;
        continue;
      }
      sum += !named ? 1 : thing.kind === 'mistake' ? 5 : 10;  // there are thousands of mistakes
    }
    if (!sum) return 0;
    const exact = thing.named.trim() === words.join(' ') || thing.named.startsWith(` ${words.join(' ')}:`);
    const order = {start: 0.7, glossary: 0.5, lesson: 0.4, exercise: 0.6, code: 0.2, mistake: 0};
    const together = thing.told.includes(` ${words.join(' ')}`) ? 2 : 0;
    const whole = thing.kind === 'lesson' && !thing.address.includes('#') ? 3 : 0;  // before its sections
    return sum + order[thing.kind] + together + whole + (exact ? 20 : 0);
  }

  function excerpt(thing, words) {  // the words, and a little around them
    const first = Math.max(0, Math.min(...words.map(word => begins(thing.told, word) - 1).filter(at => at >= 0), thing.text.length));
    const start = first >= thing.text.length ? 0 : Math.max(0, thing.text.lastIndexOf(' ', Math.max(0, first - 60)) + 1);
    const end = start + 180 < thing.text.length ? thing.text.lastIndexOf(' ', start + 180) : thing.text.length;
    const cut = curled(thing.text.slice(start, end));
    const part = document.createElement('p');
    part.append(start ? '… ' : '');
    for (const piece of cut.split(/([\p{L}\p{N}_]+)/u)) {
      const marked = words.some(word => (word.length > 3 || words.length === 1) && plain(piece).startsWith(word));
      part.append(marked ? Object.assign(document.createElement('mark'), {textContent: piece}) : piece);
    }
    part.append(end < thing.text.length ? ' …' : '');
    return part;
  }

  // The nearest known word to a mistyped one, if any is near: letters changed, left out, added or swapped.
  function distance(one, other) {
    const rows = [Array.from({length: other.length + 1}, (_, at) => at)];
    for (let i = 1; i <= one.length; i++) {
      rows[i] = [i];
      for (let j = 1; j <= other.length; j++) {
        const same = one[i - 1] === other[j - 1] ? 0 : 1;
        rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
    return rows[one.length][other.length];
  }
  let known;
  function corrected(word) {
    if (word.length < 4 || things.some(thing => begins(thing.named, word) >= 0 || begins(thing.told, word) >= 0)) return word;
    known ??= things.reduce((counts, thing) => {
      for (const one of new Set((thing.named + thing.told).split(/[^\p{L}\p{N}]+/u))) counts.set(one, (counts.get(one) ?? 0) + 1);
      return counts;
    }, new Map());
    let best = [1 + Math.floor(word.length / 6), 0, word];
    for (const [one, times] of known) {
      if (Math.abs(one.length - word.length) > best[0] || one.length < 4) continue;
      const far = distance(word, one);
      if (far < best[0] || far === best[0] && times > best[1]) best = [far, times, one];
    }
    return best[2];
  }

  const IDLE = ['what', 'is', 'are', 'the', 'a', 'an', 'of', 'to', 'do', 'does', 'how', 'why', 'in', 'for', 'i', 'it', 'on', 'my', 'your', 'can'];

  // {best, exact, words}: what was found, whether it holds all the words, and the words as they were understood.
  function find(question) {
    const all = plain(question).replace(/\bkv\b|kv_/g, 'key value ').replace(/\bsqrt\b/g, '√ ').split(/[^\p{L}\p{N}_√]+/u).filter(Boolean);
    const telling = all.filter(word => !IDLE.includes(word)), words = telling.length ? telling : all;
    const ranked = (words, missing) => things.map(thing => [score(thing, words, missing), thing]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]);
    const right = words.map(corrected), exact = words.length ? ranked(right, 0) : [];
    const stems = right.map(word => word.length > 5 ? word.slice(0, -2) : word);
    let best = exact;
    for (let missing = 0; !best.length && missing < words.length; missing++) best = ranked(stems, missing);
    return {best: best.map(([, thing]) => thing), exact: exact.length > 0, words, right};
  }

  return {find, excerpt};
})();

// The page of the search.
(() => {
  const list = document.querySelector('#found'), how = document.querySelector('#how-many'), field = document.querySelector('.find input');
  if (!list) return;
  function show(question) {
    const {best, exact, words, right} = finder.find(question);
    document.querySelector('#examples').hidden = words.length > 0;
    how.textContent = !words.length ? '' : exact || !best.length
      ? `${best.length || 'Nothing'} found for “${right.join() === words.join() ? question : right.join(' ')}”${best.length > 50 ? '; here are the best 50:' : '.'}`
      : `Nothing contains all of “${question}”. The nearest matches:`;
    const items = new Map();  // a mistake that several exercises share stands once
    for (const thing of best.slice(0, 50)) {
      const link = Object.assign(document.createElement('a'), {textContent: curled(thing.title), href: thing.address});
      const [name, place] = thing.title.split(/ \((?=\w+\)$)/), same = thing.kind === 'mistake' ? `${name} ${thing.text}` : thing.address;
      if (items.has(same)) {
        link.textContent = place.slice(0, -1);
        items.get(same).querySelector('p').before(', ', link);
        continue;
      }
      const item = document.createElement('li'), kind = Object.assign(document.createElement('span'), {className: 'kind', textContent: thing.kind});
      item.append(kind, ' ', link, finder.excerpt(thing, right));
      items.set(same, item);
    }
    list.replaceChildren(...items.values());
  }

  field.value = new URLSearchParams(location.search).get('q') ?? '';
  document.querySelector('.find').onsubmit = event => {
    event.preventDefault();
    show(field.value);
  };
  field.oninput = () => show(field.value);
  show(field.value);
  if (!field.value) field.focus();
})();
