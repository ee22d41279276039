// Finds things by their words: every word must begin a word of the title or of the text. FOUND holds the things.
(() => {
  const plain = text => text.toLowerCase().normalize('NFKD').replace(/[\u0300-\u036f]/g, '');
  const list = document.querySelector('#found'), how = document.querySelector('#how-many');
  const field = document.querySelector('.find input');
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
    const cut = thing.text.slice(start, end);
    const part = document.createElement('p');
    part.append(start ? '… ' : '');
    for (const piece of cut.split(/([\p{L}\p{N}_]+)/u)) {
      const marked = words.some(word => (word.length > 3 || words.length === 1) && plain(piece).startsWith(word));
      part.append(marked ? Object.assign(document.createElement('mark'), {textContent: piece}) : piece);
    }
    part.append(end < thing.text.length ? ' …' : '');
    return part;
  }

  const IDLE = ['what', 'is', 'are', 'the', 'a', 'an', 'of', 'to', 'do', 'does', 'how', 'why', 'in', 'for', 'i', 'it', 'on', 'my', 'your', 'can'];

  function find(question) {
    const all = plain(question).replace(/\bkv\b|kv_/g, 'key value ').replace(/\bsqrt\b/g, '√ ').split(/[^\p{L}\p{N}_√]+/u).filter(Boolean);
    const telling = all.filter(word => !IDLE.includes(word)), words = telling.length ? telling : all;
    const ranked = (words, missing) => things.map(thing => [score(thing, words, missing), thing]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]);
    const exact = words.length ? ranked(words, 0) : [], stems = words.map(word => word.length > 5 ? word.slice(0, -2) : word);
    let best = exact;
    for (let missing = 0; !best.length && missing < words.length; missing++) best = ranked(stems, missing);
    how.textContent = !words.length ? '' : exact.length || !best.length
      ? `${best.length || 'Nothing'} found for “${question}”${best.length > 50 ? '; the best 50:' : '.'}`
      : `Nothing has all of “${question}”. The nearest:`;
    list.replaceChildren(...best.slice(0, 50).map(([, thing]) => {
      const item = document.createElement('li'), link = document.createElement('a');
      Object.assign(link, {textContent: thing.title, href: thing.address});
      const kind = Object.assign(document.createElement('span'), {className: 'kind', textContent: thing.kind});
      item.append(kind, ' ', link, excerpt(thing, words));
      return item;
    }));
  }

  field.value = new URLSearchParams(location.search).get('q') ?? '';
  document.querySelector('.find').onsubmit = event => {
    event.preventDefault();
    find(field.value);
  };
  field.oninput = () => find(field.value);
  find(field.value);
  if (!field.value) field.focus();
})();
