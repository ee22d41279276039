// The cells of a lesson, which run in the order of the page: a cell runs after those above it that make what it names.
globalThis.cells = (() => {
  const LINES = 1000;  // a line's number says which cell it is of

  // byte_pairs.train_bpe with numbers for tokens
  function train_bpe([words, number], named) {
    const {Tuple, Bytes} = tensors, texts = [], numbers = new Map(), SIZE = 2 ** 20, merges = [];
    const numberOf = text => {
      if (!numbers.has(text)) numbers.set(text, texts.push(text) - 1);
      return numbers.get(text);
    };
    const parts = words.keys().map(word => Array.from(word, ({text}) => numberOf(text))), times = words.values().map(Number), counts = new Map(), holders = new Map();
    const count = (place, sign) => {
      const word = parts[place];
      for (let at = 1; at < word.length; at++) {
        const pair = word[at - 1] * SIZE + word[at];
        counts.set(pair, (counts.get(pair) ?? 0) + sign * times[place]);
        if (sign > 0) holders.has(pair) ? holders.get(pair).add(place) : holders.set(pair, new Set([place]));
      }
    };
    const textsOf = pair => [texts[Math.floor(pair / SIZE)], texts[pair % SIZE]];
    const larger = (one, other) => {
      const [[a, b], [c, d]] = [textsOf(one), textsOf(other)];
      return a > c || a === c && b > d;
    };
    parts.forEach((_, place) => count(place, 1));
    for (const wanted = Number(number ?? named.number); merges.length < wanted;) {
      let [best, most] = [null, 0];
      for (const [pair, many] of counts) if (many > most || many === most && best !== null && larger(pair, best)) [best, most] = [pair, many];
      if (best === null) break;
      const [left, right] = [Math.floor(best / SIZE), best % SIZE], joined = numberOf(texts[left] + texts[right]);
      merges.push(Tuple.from(textsOf(best), text => new Bytes(text)));
      for (const place of [...holders.get(best)]) {
        count(place, -1);
        const made = [];
        for (const part of parts[place]) made.length && made.at(-1) === left && part === right ? made.splice(-1, 1, joined) : made.push(part);
        parts[place] = made;
        count(place, 1);
      }
      if (left !== joined && right !== joined) holders.delete(best);
    }
    return merges;
  }
  const plays = new Map(), kept = write => (args, named) => {  // of a play, which takes a second to write
    const name = [...args, ...Object.entries(named).flat()].join();
    if (!plays.has(name)) plays.set(name, write(args, named));
    return plays.get(name);
  };
  let digits = null;
  const OWN = {  // functions of the course for which Python's way is too long, and what a lesson begins with and a page does not need
    numbers() {
      if (digits === null) for (let code = (digits = '', 0); code < 0x110000; code++) if (/\p{N}/u.test(String.fromCodePoint(code))) digits += String.fromCodePoint(code);
      return digits;
    },
    single_bytes: ([text]) => Array.from(containers.method(text, 'encode')(text, [], {}).text, byte => new tensors.Bytes(byte)),
    train_bpe, let_waiting_threads_sleep: () => null, skip_without_model: () => null,
  };

  // `lesson` is {cells: [{source, runs}, …], package: {module: {function: source}}}, of which a cell that the page cannot run has
  // `runs: false`. A source may be changed. What is run is a session of its own each time: nothing is left of an earlier one.
  function open(lesson) {
    const sources = lesson.cells.map(({source}) => source), studied = new Map();
    const read = source => {
      if (!studied.has(source)) studied.set(source, python.study(source));
      return studied.get(source);
    };
    const study = at => read(sources[at]) ?? read(lesson.cells[at].source) ?? read('');  // what is no Python makes what it made before
    const madeIn = at => lesson.cells[at].runs ? study(at).makes : new Set(lesson.cells[at].makes);
    function needed(at) {  // the places of cells above, in order
      const names = new Set(study(at).reads), places = [], imports = new Set(sources.flatMap((_, place) => study(place).imports));
      for (let place = at - 1; place >= 0; place--) {
        const made = [...madeIn(place)].filter(name => names.has(name)), {reads, changes} = study(place);
        if (!made.length && !changes.some(name => names.has(name) && !imports.has(name))) continue;
        places.unshift(place);
        made.forEach(name => names.delete(name));
        if (lesson.cells[place].runs) reads.forEach(name => names.add(name));
      }
      return places;
    }

    function imported(name) {  // what the package of the course holds
      const module = lesson.package[name], [, parent, own] = name.match(/^(?:(.*)\.)?(\w+)$/);
      if (module) return moduleOf(name);
      if (['plots', 'playgrounds'].includes(own)) return {title: own, known: {}, draws: true};
      if (lesson.package[parent]?.[own]) return library.attribute(moduleOf(parent), own);
      return {title: own, known: {}, stranger: name.startsWith('transformer_lessons') ? ' the notebook does.' : ' the notebook does, if it is installed there.'};
    }
    let modules = {};
    function moduleOf(name) {
      if (modules[name]) return modules[name];
      const module = modules[name] = {title: name.split('.').at(-1), known: {}}, inside = python.session(imported);
      for (const [own, source] of Object.entries(lesson.package[name])) {
        if (OWN[own]) inside.give(own, module[own] = OWN[own]);
        else if (inside.run(source).fault === undefined) module[own] = own === 'write' ? kept(inside.taken(own)) : inside.taken(own);
      }
      return module;
    }

    // {printed, value} or {fault, line, at: the place of the cell with this line, which may be one above}
    function run(at) {
      modules = {};
      const session = python.session(imported);
      for (const place of [...needed(at), at]) {
        if (!lesson.cells[place].runs) {
          lesson.cells[place].makes.forEach(session.lose);
          continue;
        }
        const outcome = session.run(sources[place], LINES * place + 1);
        if (outcome.fault !== undefined) return {...outcome, line: outcome.line % LINES, at: Math.floor(outcome.line / LINES)};
        if (place === at) return outcome;
      }
    }
    const strangers = at => [...study(at).strange].filter(name => !name.startsWith('transformer_lessons'));  // modules that it imports, and that the page does not know
    const output = ({printed, value}) => printed.join('') + (value === null || value === undefined ? '' : library.repr(value));
    return {sources, needed, strangers, run, output};
  }
  return {open};
})();
