// Finds things by their words. FOUND holds the things. A word counts the more, the fewer things have it; it counts most in
// a heading, then among the terms that a section introduces, then in the text.
globalThis.finder = (() => {
  // What people type, and what the course writes: the same words for both.
  const SAME = [
    [/\bkv\b|kv_/g, 'key value '], [/square roots? (?:of )?(?:the )?|\bsqrt\b ?(?:of )?|\broot (?:of )?(?=\p{L}\b)/gu, '√'],
    [/residual connection/g, 'skip connection'], [/look-?ahead mask/g, 'causal mask'], [/\bmlp\b|feedforward/g, 'feed-forward'],
    [/layer normali[sz]ation/g, 'layer norm'], [/(?:multiple|several|many) (?:attention )?heads/g, 'multi-head'], [/position(?:al)? embedding/g, 'positional encoding'], [/encoder-decoder attention/g, 'cross-attention'],
  ];
  const plain = text => text.toLowerCase().normalize('NFKD').replace(/[\u0300-\u036f]/g, '').replace(/iz(?=e|ing|ation)/g, 'is');
  // What asks is more likely to be answered by a lesson than by a list of mistakes.
  const asks = question => /^(?:what|why|how|when|where|which|who|is|are|does|do|can|should)\b|\?$/.test(plain(question).trim());
  const same = text => SAME.reduce((text, [typed, written]) => text.replace(typed, written), plain(text)).replace(/√(?=[\p{L}\p{N}(])/gu, '√ ');
  const things = FOUND.map(([kind, title, address, text, terms = '']) => {
    const section = kind === 'lesson' && address.includes('#'), [, own, place = ''] = title.match(/^(.*?)(?: \(([^()]*)\))?$/s);
    const apart = section || kind === 'mistake' ? [own, place] : [title, ''];
    return {kind, title, address, text, section, own: ` ${same(apart[0])}`, place: ` ${same(apart[1])}`, terms: ` ${same(terms)}`, told: ` ${same(text)}`};
  });

  const quoted = word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const stem = word => {
    const rest = word.replace(/(?:ies|y|ations?|ings?|ed|(?<!s)s)$/, ''), short = rest.length < 3 ? word : rest;
    return short.length > 4 ? short.replace(/e$/, '') : short;
  };
  // A word as it is looked for: whole, and where it begins a word; a single letter is always whole.
  const sought = (word, alone) => {
    const whole = `(?<![\\p{L}\\p{N}])${quoted(word)}(?![\\p{L}\\p{N}])`;
    const begins = word.length > 1 || alone ? `(?<![\\p{L}\\p{N}])${quoted(stem(word))}` : whole;
    return {word, whole: new RegExp(whole, 'u'), begins: new RegExp(begins, 'u'), all: new RegExp(begins, 'gu')};
  };
  const hit = (text, {whole, begins}) => whole.test(text) ? 1 : begins.test(text) ? 0.8 : 0;

  const HEADING = {start: 2.5, teaching: 4, glossary: 3.4, lesson: 3.2, exercise: 2.4, code: 1.2, mistake: 1.2};  // there are thousands of mistakes
  const IDLE = new Set(('what is are was were be been the a an of to do does did how why when where which who in for i it its on my your you we me can could ' +
    'should would will and or so at that this these there mean means work works need needs have has use used get explain between difference ' +
    'many much with as by happens if').split(' '));
  const content = text => text.split(/[^\p{L}\p{N}_√]+/u).filter(word => word && !IDLE.has(word));

  // How well a thing fits: points for each of the words, fewer if some are missing, more if they stand together.
  function points(thing, words, phrase, asking) {
    let sum = 0, all = 0, found = 0, named = 0;
    for (const word of words) {
      const own = hit(thing.own, word), times = Math.min(20, thing.told.match(word.all)?.length ?? 0);
      const said = Math.max(HEADING[thing.kind] * own, 2.6 * hit(thing.terms, word), hit(thing.place, word)) + 1.2 * times / (times + 1.5);
      sum += word.rare * said;
      all += word.rare;
      if (said) found += word.rare;
      if (own) named++;
    }
    if (!found) return null;
    thing.content ??= content(thing.own);
    const exact = thing.own.trim() === phrase || thing.own.startsWith(` ${phrase}:`), together = words.length > 1;
    const whole = thing.kind === 'lesson' && !thing.section, introduced = thing.section && thing.terms.split(',').some(term => term.trim() === phrase);
    sum *= (found / all) ** 2 * (1 + 0.6 * named / Math.max(1, thing.content.length));
    if (exact) sum *= thing.kind === 'mistake' && !asking ? 2.4 : thing.kind === 'mistake' || thing.kind === 'exercise' && !phrase.includes('_') ? 1.2 : 2;
    if (introduced) sum *= asking ? 4 : 1.5;  // here it is explained
    if (asking) sum *= {mistake: 0.5, code: 0.5, lesson: 1.2}[thing.kind] ?? 1;
    if (whole && named === words.length) sum *= 1.5;  // before its sections
    if (thing.own.startsWith(` ${phrase}`)) sum *= 1.15;
    if (together && thing.own.includes(` ${phrase}`)) sum *= 1.25;
    if (together && (thing.told.includes(` ${phrase}`) || thing.terms.includes(` ${phrase}`))) sum *= thing.kind === 'mistake' ? 1 : 1.6;
    if (thing.section) sum *= /^ (?:theory|what we have now)$/.test(thing.own) ? 0.6 : /^ (?:break it|bug hunt|symptom)/.test(thing.own) ? 0.7 : 1;
    if (thing.kind === 'lesson') sum *= 1.25 - 0.02 * Number(thing.address.match(/\d+/)[0]);  // the earlier one explains more
    return {thing, sum, whole: found === all};
  }

  function excerpt(thing, words) {  // the words, and a little around them
    const text = thing.text.toLowerCase(), marks = words.map(word => sought(word, words.length === 1));
    const places = marks.map(({begins}) => text.search(begins)).filter(at => at >= 0);
    const first = places.length ? Math.min(...places) : text.length;
    const start = first >= thing.text.length ? 0 : Math.max(0, thing.text.lastIndexOf(' ', Math.max(0, first - 60)) + 1);
    const end = start + 180 < thing.text.length ? thing.text.lastIndexOf(' ', start + 180) : thing.text.length;
    const cut = curled(thing.text.slice(start, end));
    const part = document.createElement('p');
    part.append(start ? '… ' : '');
    for (const piece of cut.split(/([\p{L}\p{N}_]+)/u)) {
      const marked = words.some(word => (word.length > 3 || words.length === 1) && plain(piece).startsWith(stem(word)));
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
    const {begins} = sought(word);
    if (word.length < 4 || things.some(({own, place, told}) => begins.test(own) || begins.test(place) || begins.test(told))) return word;
    known ??= things.reduce((counts, {own, told}) => {
      for (const one of new Set((own + told).split(/[^\p{L}\p{N}]+/u))) counts.set(one, (counts.get(one) ?? 0) + 1);
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

  // {best, exact, words}: what was found, whether it holds all the words, and the words as they were understood.
  function find(question) {
    const all = same(question).split(/[^\p{L}\p{N}_√]+/u).filter(Boolean), telling = all.filter(word => !IDLE.has(word));
    const words = telling.length ? telling : all, right = words.map(corrected), looked = right.map(word => sought(word, right.length === 1));
    for (const word of looked) {
      const having = things.filter(({own, place, terms, told}) => [told, own, terms, place].some(text => word.begins.test(text))).length;
      word.rare = Math.log(1 + things.length / (having + 1));
    }
    const ranked = (looked.length ? things : []).map(thing => points(thing, looked, right.join(' '), asks(question))).filter(Boolean).sort((a, b) => b.sum - a.sum);
    const exact = ranked.some(({whole}) => whole), least = (ranked[0]?.sum ?? 0) / 2;
    const best = ranked.filter(({sum, whole}) => whole || sum >= (exact ? least : least / 2));
    return {best: best.map(({thing}) => thing), exact, words, right};
  }

  return {find, excerpt};
})();

// The page of the search.
(() => {
  const list = document.querySelector('#found'), how = document.querySelector('#how-many'), field = document.querySelector('.find input');
  const choices = document.querySelector('#kinds'), KINDS = {lesson: 'in lessons', glossary: 'in the glossary', exercise: 'exercises', mistake: 'mistakes', code: 'in the code', teaching: 'for teachers', start: 'about the course'};
  if (!list) return;
  let only = null;  // one kind, if it has been chosen
  function show(question) {
    const {best: all, exact, words, right} = finder.find(question), best = all.filter(({kind}) => !only || kind === only);
    choices.replaceChildren(...Object.entries(KINDS).flatMap(([kind, name]) => {
      const many = all.filter(thing => thing.kind === kind).length;
      return many ? [Object.assign(document.createElement('button'), {type: 'button', textContent: `${many} ${many === 1 ? name.replace(/^(\w+)s$/, '$1') : name}`, ariaPressed: String(kind === only), onclick: () => {
        only = kind === only ? null : kind;
        show(question);
        choices.querySelector('[aria-pressed="true"]')?.focus();
      }})] : [];
    }));
    document.querySelector('#examples').hidden = words.length > 0;
    const meant = right.join() === words.join() ? question : right.join(' ');
    how.textContent = !words.length ? '' : !best.length ? `Nothing found for “${meant}”.`
      : exact ? `${best.length > 50 ? `The 50 best of ${best.length} matches` : 'Found'} for “${meant}”${right.join() === words.join() ? '' : `, since no page has “${words.filter((word, at) => word !== right[at]).join(' ')}”`}:` : `Nothing contains all of “${question}”. The nearest matches:`;
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
  field.oninput = () => { only = null; show(field.value); };
  show(field.value);
  if (!field.value) field.focus();
})();
