// What lessons use of Python's own modules: itertools, functools, collections, re, random and dataclasses.
(() => {
  const {Tuple, Dict, Counter, DefaultDict, Instance, fail, countFrom} = tensors;
  const {items, operate, iterator, builtins, number, same} = library;
  const tuple = list => Tuple.from(list);
  const module = (title, functions) => { library.standard[title] = {title, known: {}, ...functions}; };
  const lazily = steps => (...given) => iterator(steps(...given));

  module('itertools', {
    pairwise: lazily(function* ([list]) {
      let last;
      for (const one of items(list)) {
        if (last) yield tuple([last[0], one]);
        last = [one];
      }
    }),
    chain: Object.assign(lazily(function* (lists) { for (const list of lists) yield* items(list); }), {statics: {from_iterable: lazily(function* ([lists]) { for (const list of items(lists)) yield* items(list); })}}),
    zip_longest: (lists, {fillvalue = null}) => {
      const all = lists.map(list => [...items(list)]);
      return countFrom(Math.max(0, ...all.map(({length}) => length))).map(at => tuple(all.map(list => at < list.length ? list[at] : fillvalue)));
    },
    product: (lists, {repeat = 1n}) => countFrom(Number(repeat)).flatMap(() => lists).reduce((all, list) => all.flatMap(some => [...items(list)].map(one => tuple([...some, one]))), [tuple([])]),
    accumulate: lazily(function* ([list, join = ([one, other]) => operate('+', one, other)], {initial}) {
      let total = initial === undefined ? undefined : [initial];
      if (total) yield initial;
      for (const one of items(list)) yield (total = [total ? join([total[0], one], {}) : one])[0];
    }),
    islice: lazily(function* ([list, ...bounds]) {
      const [start, stop, step = 1] = (bounds.length > 1 ? bounds : [0n, ...bounds]).map(bound => bound === null ? Infinity : Number(bound));
      let at = 0;
      if (stop > 0) for (const one of items(list)) {
        if (at >= start && (at - start) % step === 0) yield one;
        if (++at >= stop) return;
      }
    }),
    count: lazily(function* ([start = 0n, step = 1n]) { for (let at = start; ; at = operate('+', at, step)) yield at; }),
    repeat: lazily(function* ([one, times]) { for (let at = 0; times === undefined || at < times; at++) yield one; }),
    combinations: ([list, many]) => {
      const all = [...items(list)], chosen = (from, left) => left ? countFrom(all.length).slice(from).flatMap(at => chosen(at + 1, left - 1).map(rest => [all[at], ...rest])) : [[]];
      return chosen(0, Number(many)).map(tuple);
    },
    permutations: ([list]) => {
      const ordered = all => all.length ? all.flatMap((one, at) => ordered(all.toSpliced(at, 1)).map(rest => [one, ...rest])) : [[]];
      return ordered([...items(list)]).map(tuple);
    },
    groupby: lazily(function* ([list, key = ([one]) => one], named) {
      let group = null;
      for (const one of items(list)) {
        const name = (named.key ?? key)([one], {});
        if (group && same(group[0], name)) group[1].push(one);
        else {
          if (group) yield tuple(group);
          group = [name, [one]];
        }
      }
      if (group) yield tuple(group);
    }),
  });

  module('functools', {
    partial: ([change, ...first], named) => (args, more) => change([...first, ...args], {...named, ...more}),
    reduce: ([join, list, ...start]) => [...start, ...items(list)].reduce((all, one) => join([all, one], {})),
    cache: ([change]) => {
      const kept = new Dict();
      return Object.assign((args, named) => {
        const key = tuple([...args, ...Object.entries(named).map(tuple)]);
        if (!kept.has(key)) kept.set(key, change(args, named));
        return kept.get(key);
      }, {title: change.title, isMethod: change.isMethod});
    },
  });

  const counted = ([list = []]) => {
    const made = new Counter();
    if (list instanceof Dict) list.entries().forEach(pair => made.set(...pair));
    else for (const one of items(list)) made.set(one, operate('+', made.get(one) ?? 0n, 1n));
    return made;
  };
  module('collections', {
    Counter: counted,
    defaultdict: ([make, pairs = []], named) => new DefaultDict(builtins.dict([pairs], named).entries(), make ?? fail('defaultdict needs what makes a missing value.')),
    OrderedDict: builtins.dict,
  });

  // --- re: Python's patterns, as JavaScript writes them ---

  const LETTERS = '\\p{L}\\p{N}_', CLASSES = {w: `[${LETTERS}]`, W: `[^${LETTERS}]`, d: '\\p{Nd}', D: '\\P{Nd}', s: '[\\s\\x1c-\\x1f\\x85]', S: '[^\\s\\x1c-\\x1f\\x85]'};
  const EDGE = `(?:(?<=${CLASSES.w})(?!${CLASSES.w})|(?<!${CLASSES.w})(?=${CLASSES.w}))`;
  function translated(pattern) {
    let made = '', inside = false;
    for (let at = 0; at < pattern.length; at++) {
      const sign = pattern[at], rest = pattern.slice(at);
      if (sign === '\\') {
        const next = pattern[++at];
        made += CLASSES[next] ?? (next === 'b' && !inside ? EDGE : next === 'A' ? '(?<![^])' : next === 'Z' ? '(?![^])' : /[a-zA-Z0-9]/.test(next) ? `\\${next}` : /[$^\\.*+?()[\]{}|/-]/.test(next) ? (inside || next !== '-' ? `\\${next}` : next) : next);
      } else if (inside) {
        if (sign === ']' && inside !== at) inside = false;
        made += sign === ']' && inside ? '\\]' : /[()[{}/|&!#%,:;<=>@`~]/.test(sign) ? (/[()[{}/|]/.test(sign) ? `\\${sign}` : sign) : sign;
      } else if (sign === '[') {
        const head = pattern[at + 1] === '^' ? '[^' : '[';
        made += head;
        at += head.length - 1;
        inside = at + 1;
      } else if (/^\(\?P[<=]/.test(rest)) {
        const name = rest.match(/^\(\?P=(\w+)\)/);
        made += name ? `\\k<${name[1]}>` : '(?<';
        at += name ? name[0].length - 1 : 3;
      } else if (sign === '$') made += '(?=\\n?(?![^]))';
      else if (sign === '}' && !/\{\d*,?\d*$/.test(made) || sign === '{' && !/^\{(?:\d+,?\d*|,\d+)\}/.test(rest)) made += `\\${sign}`;
      else made += sign;
    }
    return made;
  }
  const compiled = new Map(), FLAGS = {IGNORECASE: 1n, I: 1n, MULTILINE: 2n, M: 2n, DOTALL: 4n, S: 4n};
  function patternOf(pattern, flags = 0n) {
    if (pattern?.regex) return pattern.regex;
    const name = `${flags} ${pattern}`;
    if (!compiled.has(name)) {
      if (flags & 2n) fail('This page knows no re.MULTILINE.');
      try {
        compiled.set(name, new RegExp(translated(pattern), `dgv${flags & 1n ? 'i' : ''}${flags & 4n ? 's' : ''}`));
      } catch {
        fail('This pattern is none that this page knows.');
      }
    }
    return compiled.get(name);
  }
  const textOf = text => typeof text === 'string' ? text : fail('A pattern is looked for in a text.');
  const matchOf = found => found && ({title: 'this match', known: {}, groups: Object.assign(found.map(one => one ?? null), found.groups ?? {}),
    group: (names = [0n]) => names.length > 1 ? tuple(names.map(name => library.getItem(matchOf(found), name))) : library.getItem(matchOf(found), names[0] ?? 0n),
    start: () => BigInt([...found.input.slice(0, found.index)].length), end: () => BigInt([...found.input.slice(0, found.index + found[0].length)].length)});
  const all = (pattern, text, flags) => [...textOf(text).matchAll(patternOf(pattern, flags))];
  const re = {
    findall: ([pattern, text], {flags} = {}) => all(pattern, text, flags).map(found => found.length === 1 ? found[0] : found.length === 2 ? found[1] ?? '' : tuple([...found].slice(1).map(one => one ?? ''))),
    finditer: ([pattern, text], {flags} = {}) => all(pattern, text, flags).map(matchOf),
    search: ([pattern, text], {flags} = {}) => matchOf(all(pattern, text, flags)[0] ?? null),
    match: ([pattern, text], {flags} = {}) => matchOf(all(pattern, text, flags).find(({index}) => index === 0) ?? null),
    fullmatch: ([pattern, text], {flags} = {}) => {
      const whole = new RegExp(`^(?:${patternOf(pattern, flags).source})$`, patternOf(pattern, flags).flags.replace('g', ''));
      return matchOf(textOf(text).match(whole));
    },
    sub: ([pattern, other, text, count], {flags} = {}) => {
      let left = count === undefined ? Infinity : Number(count);
      const filled = found => typeof other === 'string' ? other.replace(/\\(?:g<(\w+)>|(\d)|n)/g, (_, name, digit) => name ?? digit ? found[name] ?? found.groups?.[name] ?? found[digit] ?? '' : '\n') : other([matchOf(found)], {});
      let [made, at] = ['', 0];
      for (const found of all(pattern, text, flags)) {
        if (left-- <= 0) break;
        made += text.slice(at, found.index) + filled(found);
        at = found.index + found[0].length;
      }
      return made + text.slice(at);
    },
    split: ([pattern, text, most = 0n], {maxsplit} = {}) => {
      const made = [], many = Number(maxsplit ?? most) || Infinity;
      let at = 0;
      for (const found of all(pattern, text).slice(0, many)) {
        made.push(text.slice(at, found.index), ...[...found].slice(1).map(one => one ?? null));
        at = found.index + found[0].length;
      }
      return [...made, text.slice(at)];
    },
    escape: ([text]) => text.replace(/[^\p{L}\p{N}_\x80-\u{10ffff}"'!%,/:;<=>@`]/gu, '\\$&'),
    compile: ([pattern, flags]) => {
      const regex = patternOf(pattern, flags);
      return {title: 'this pattern', known: {}, regex, pattern, ...Object.fromEntries(['findall', 'finditer', 'search', 'match', 'fullmatch', 'sub', 'split'].map(name => [name, (args, named) => re[name]([{regex}, ...args], named)]))};
    },
    ...FLAGS,
  };
  module('re', re);

  // --- random: the very numbers that Python draws ---

  const word = value => value >>> 0;
  function twister(seed) {
    const key = [];
    for (let rest = seed < 0n ? -seed : seed; rest || !key.length; rest >>= 32n) key.push(Number(rest & 0xffffffffn));
    const state = [19650218];
    for (let at = 1; at < 624; at++) state.push(word(Math.imul(1812433253, state[at - 1] ^ state[at - 1] >>> 30) + at));
    let [at, place] = [1, 0];
    const go = () => {
      if (++at >= 624) [state[0], at] = [state[623], 1];
    };
    for (let left = Math.max(624, key.length); left; left--) {
      state[at] = word((state[at] ^ Math.imul(state[at - 1] ^ state[at - 1] >>> 30, 1664525)) + key[place] + place);
      place = (place + 1) % key.length;
      go();
    }
    for (let left = 623; left; left--) {
      state[at] = word((state[at] ^ Math.imul(state[at - 1] ^ state[at - 1] >>> 30, 1566083941)) - at);
      go();
    }
    state[0] = 0x80000000;
    const {bits} = chance.twister(state);
    return {bits, real: () => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992};
  }
  function random([seed]) {
    const {bits, real} = twister(typeof seed === 'bigint' ? seed : fail('On this page, a generator of random numbers needs a whole number as its seed.'));
    const few = count => count && word(bits()) >>> (32 - count);
    function below(count) {  // as Python draws it
      const size = count.toString(2).length;
      if (size > 32) fail('This number is too large for this page.');
      for (;;) {
        const made = few(size);
        if (made < count) return made;
      }
    }
    const pick = list => list.length ? list[below(list.length)] : fail('There is nothing to choose from.');
    return {
      title: 'this generator', known: {}, random: () => real(), uniform: ([low, high]) => number(low) + (number(high) - number(low)) * real(),
      randrange: ([start, stop]) => stop === undefined ? BigInt(below(Number(start))) : start + BigInt(below(Number(stop - start))), randint: ([low, high]) => low + BigInt(below(Number(high - low) + 1)),
      choice: ([list]) => pick(typeof list === 'string' ? [...list] : [...items(list)]),
      choices: ([list, given], {weights = given, k = 1n}) => {
        const all = [...items(list)];
        if (!weights) return countFrom(Number(k)).map(() => all[Math.floor(real() * all.length)]);
        const sums = [];
        for (const one of items(weights)) sums.push((sums.at(-1) ?? 0) + number(one));
        return countFrom(Number(k)).map(() => {
          const far = real() * sums.at(-1), at = sums.findIndex(sum => far < sum);
          return all[at < 0 ? all.length - 1 : Math.min(at, all.length - 1)];
        });
      },
      shuffle: ([list]) => {
        for (let at = list.length - 1; at > 0; at--) {
          const other = below(at + 1);
          [list[at], list[other]] = [list[other], list[at]];
        }
      },
    };
  }
  module('random', {Random: random});

  // --- dataclasses ---

  function dataclass(given, options = {}) {
    if (!given[0]) return ([kind]) => dataclass([kind], options);
    const [kind] = given, names = [...kind.bases.flatMap(base => base.fields ?? []), ...kind.annotated.filter(name => name !== '_')];
    kind.fields = names;
    kind.frozen = Boolean(options.frozen);
    const own = kind.annotated.indexOf('_'), positional = own < 0 ? names.length : names.length - kind.annotated.length + own + 1;
    const method = (name, change) => { if (!kind.members.has(name)) kind.members.set(name, Object.assign(change, {title: name, isMethod: true})); };
    method('__init__', ([self, ...args], named) => {
      if (args.length > positional) fail(`${kind.title} takes ${positional} arguments, and it is given ${args.length}.`);
      Object.keys(named).forEach(name => { if (!names.includes(name)) fail(`${kind.title} has no field “${name}”.`); });
      names.forEach((name, at) => {
        const held = at < args.length ? args[at] : named[name] !== undefined ? named[name] : kind.find(name);
        self.fields.set(name, held === undefined ? fail(`${kind.title} needs “${name}”.`) : held?.makes ? held.makes([], {}) : held);
      });
      kind.find('__post_init__')?.([self], {});
      return null;
    });
    method('__repr__', ([self]) => `${kind.title}(${names.map(name => `${name}=${printing.repr(self.fields.get(name))}`).join(', ')})`);
    method('__eq__', ([one, other]) => other instanceof Instance && other.kind === kind && names.every(name => same(one.fields.get(name), other.fields.get(name))));
    return kind;
  }
  module('dataclasses', {dataclass, KW_ONLY: 'KW_ONLY', field: (_, {default_factory: makes, default: held}) => makes ? {makes} : held,
    replace: ([one], named) => one.kind([], {...Object.fromEntries(one.fields), ...named}), asdict: ([one]) => new Dict([...one.fields])});
  for (const title of ['typing', 'collections.abc', 'numbers']) module(title, {onlyTypes: true});
  library.standard.string = {title: 'string', known: {}, ascii_lowercase: 'abcdefghijklmnopqrstuvwxyz', ascii_uppercase: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', digits: '0123456789', punctuation: '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'};
})();
