// Methods of texts, bytes, lists, dictionaries and sets.
globalThis.containers = (() => {
  const {Tuple, Dict, Counter, Group, Bytes, fail} = tensors, {format} = printing;
  const number = (value, none) => value === undefined || value === null ? none : Number(value);
  const pad = (text, width, fill, left) => {
    const missing = Math.max(0, Number(width) - [...text].length), before = Math.floor(missing * left);
    return fill.repeat(before) + text + fill.repeat(missing - before);
  };
  const signs = given => given === undefined || given === null ? /\s/ : {test: sign => [...given].includes(sign)};
  const stripped = (text, given, left, right) => {
    const all = [...text], gone = signs(given);
    while (left && all.length && gone.test(all[0])) all.shift();
    while (right && all.length && gone.test(all.at(-1))) all.pop();
    return all.join('');
  };
  const utf8 = text => new Bytes(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''));
  function decoded(text, way = 'utf-8', errors = 'strict') {
    if (/^latin|^iso/.test(way)) return text;
    if (way === 'ascii' && /^[\x00-\x7f]*$/.test(text)) return text;
    if (!/^utf-?8$/i.test(way)) fail(`This page does not know the encoding ${way}.`);
    try {
      return new TextDecoder('utf-8', {fatal: errors === 'strict', ignoreBOM: true}).decode(Uint8Array.from(text, sign => sign.charCodeAt()));
    } catch {
      return fail('These bytes are no UTF-8.');
    }
  }
  function encoded(text, way = 'utf-8') {
    if (/^utf-?8$/i.test(way)) return /\p{Surrogate}/u.test(text) ? fail('Half a surrogate pair cannot be encoded here.') : utf8(text);
    const most = way === 'ascii' ? 0x7f : /^latin|^iso/.test(way) ? 0xff : fail(`This page does not know the encoding ${way}.`);
    return [...text].every(sign => sign.codePointAt() <= most) ? new Bytes(text) : fail(`A character of this text is not in ${way}.`);
  }
  const before = (text, at) => at < 0 ? -1n : BigInt([...text.slice(0, at)].length);  // characters before this place
  const parted = (text, by, at) => Tuple.from(at < 0 ? [text, '', ''] : [text.slice(0, at), by, text.slice(at + by.length)]);
  const ofBytes = change => (bytes, [given, ...more]) => change(bytes.text, given instanceof Bytes ? given.text : Array.isArray(given) ? given.map(one => one.text) : given, ...more);
  const starts = (given, test) => Array.isArray(given) ? given.some(test) : test(given);

  // "{} {:.2f} {name}".format(…)
  function filled(pattern, args, named) {
    let next = 0;
    return pattern.replace(/\{\{|\}\}|\{(\w*)(?::([^{}]*))?\}/g, (whole, name, spec) => {
      if (whole.length === 2 && whole !== '{}') return whole[0];
      const value = name === '' ? args[next++] : /^\d+$/.test(name) ? args[Number(name)] : named[name];
      return value === undefined ? fail(`format has no value for “${whole}”.`) : format(value, spec ?? '');
    });
  }

  const joint = (set, other, within) => new Group([...set].filter(one => other.has(one) === within));

  // --- a value, and then the arguments; `named` are those with names ---

  const methods = {
    text: {
      join: (text, [list], _, items) => [...items(list)].map(one => typeof one === 'string' ? one : fail('join needs texts: str() makes a text of a number.')).join(text),
      replace: (text, [from, to, count]) => count === undefined ? text.replaceAll(from, () => to) : Array.from({length: Number(count)}).reduce(made => made.replace(from, () => to), text),
      split: (text, [by, most]) => {
        const parts = by === undefined || by === null ? text.trim().split(/\s+/).filter(Boolean) : text.split(by), count = number(most, -1);
        return count < 0 || parts.length <= count + 1 ? parts : [...parts.slice(0, count), parts.slice(count).join(by ?? ' ')];
      },
      splitlines: text => text.replace(/\n$/, '').split('\n'),
      strip: (text, [given]) => stripped(text, given, true, true), lstrip: (text, [given]) => stripped(text, given, true, false), rstrip: (text, [given]) => stripped(text, given, false, true),
      upper: text => text.toUpperCase(), lower: text => text.toLowerCase(), capitalize: text => text.slice(0, 1).toUpperCase() + text.slice(1).toLowerCase(),
      startswith: (text, [given]) => starts(given, one => text.startsWith(one)), endswith: (text, [given]) => starts(given, one => text.endsWith(one)),
      ljust: (text, [width, fill = ' ']) => pad(text, width, fill, 0), rjust: (text, [width, fill = ' ']) => pad(text, width, fill, 1), center: (text, [width, fill = ' ']) => pad(text, width, fill, 0.5),
      removeprefix: (text, [start]) => text.startsWith(start) ? text.slice(start.length) : text, removesuffix: (text, [end]) => text.endsWith(end) ? text.slice(0, text.length - end.length) : text,
      count: (text, [part]) => BigInt(text.split(part).length - 1),
      find: (text, [part]) => before(text, text.indexOf(part)), rfind: (text, [part]) => before(text, text.lastIndexOf(part)),
      index: (text, [part]) => text.includes(part) ? before(text, text.indexOf(part)) : fail(`“${part}” is not in this text.`),
      isalpha: text => /^\p{L}+$/u.test(text), isdigit: text => /^\d+$/.test(text), isspace: text => /^\s+$/.test(text), isupper: text => text !== text.toLowerCase() && text === text.toUpperCase(),
      isalnum: text => /^[\p{L}\p{N}]+$/u.test(text), islower: text => text !== text.toUpperCase() && text === text.toLowerCase(),
      title: text => text.replace(/\p{L}+/gu, word => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase()),
      zfill: (text, [width]) => text.replace(/^[-+]?/, sign => sign + '0'.repeat(Math.max(0, Number(width) - [...text].length))),
      partition: (text, [by]) => parted(text, by, text.indexOf(by)),
      rpartition: (text, [by]) => text.includes(by) ? parted(text, by, text.lastIndexOf(by)) : Tuple.from(['', '', text]),
      encode: (text, [way, errors], named) => encoded(text, way ?? named.encoding, errors),
      translate: (text, [table]) => Array.from(text, sign => {
        const code = BigInt(sign.codePointAt()), made = table.has(code) ? table.get(code) : sign;
        return made === null ? '' : typeof made === 'bigint' ? String.fromCodePoint(Number(made)) : made;
      }).join(''),
      format: filled,
    },
    bytes: {
      decode: ({text}, [way, errors], named) => decoded(text, way ?? named.encoding, errors ?? named.errors),
      join: ({text}, [list], _, items) => new Bytes([...items(list)].map(one => one instanceof Bytes ? one.text : fail('join needs bytes here.')).join(text)),
      hex: ({text}, [by = '']) => Array.from(text, sign => sign.charCodeAt().toString(16).padStart(2, '0')).join(by),
      startswith: ofBytes((text, given) => starts(given, one => text.startsWith(one))), endswith: ofBytes((text, given) => starts(given, one => text.endsWith(one))),
      count: ofBytes((text, part) => BigInt(text.split(part).length - 1)), find: ofBytes((text, part) => BigInt(text.indexOf(part))),
      replace: (bytes, [from, to]) => new Bytes(bytes.text.replaceAll(from.text, () => to.text)), split: (bytes, [by]) => bytes.text.split(by?.text ?? fail('On this page, bytes are split by bytes.')).map(text => new Bytes(text)),
    },
    set: {
      add: (set, [one]) => void set.add(one), discard: (set, [one]) => void set.delete(one), copy: set => new Group(set), clear: set => [...set].forEach(one => set.delete(one)),
      remove: (set, [one]) => set.has(one) ? void set.delete(one) : fail(`${printing.repr(one)} is not in this set.`),
      update: (set, lists, _, items) => lists.forEach(list => [...items(list)].forEach(one => set.add(one))),
      union: (set, lists, _, items) => new Group([...set, ...lists.flatMap(list => [...items(list)])]),
      intersection: (set, [list], _, items) => joint(set, new Group(items(list)), true), difference: (set, [list], _, items) => joint(set, new Group(items(list)), false),
      issubset: (set, [list], _, items) => joint(set, new Group(items(list)), false).size === 0, isdisjoint: (set, [list], _, items) => joint(set, new Group(items(list)), true).size === 0,
      issuperset: (set, [list], _, items) => [...items(list)].every(one => set.has(one)),
    },
    counter: {
      most_common: (counter, [many]) => counter.mostCommon().slice(0, many === undefined || many === null ? undefined : Number(many)).map(pair => Tuple.from(pair)),
      total: counter => counter.values().reduce((all, one) => all + one, 0n), elements: counter => counter.entries().flatMap(([key, many]) => Array.from({length: Number(many)}, () => key)),
      update: (counter, [list], _, items) => {
        const more = list instanceof Dict ? list.entries() : Array.from(items(list), one => [one, 1n]);
        more.forEach(([key, many]) => counter.set(key, (counter.get(key) ?? 0n) + many));
      },
    },
    list: {
      append: (list, [one]) => void list.push(one),
      extend: (list, [more], _, items) => void list.push(...items(more)),
      insert: (list, [at, one]) => void list.splice(Number(at), 0, one),
      pop: (list, [at = -1n]) => list.length ? list.splice(Number(at), 1)[0] : fail('pop: the list is empty.'),
      reverse: list => void list.reverse(), copy: list => [...list],
      clear: list => void list.splice(0),
      remove: (list, [one], _, __, ___, same) => {
        const at = list.findIndex(other => same(one, other));
        return at < 0 ? fail(`${printing.repr(one)} is not in this list.`) : void list.splice(at, 1);
      },
      sort: (list, [], {key, reverse}, _, sorted) => void list.splice(0, list.length, ...sorted([list], {key, reverse})),
    },
    tuple: {
      index: (list, [one], _, __, ___, same) => {
        const at = list.findIndex(other => same(one, other));
        return at < 0 ? fail(`${printing.repr(one)} is not there.`) : BigInt(at);
      },
      count: (list, [one], _, __, ___, same) => BigInt(list.filter(other => same(one, other)).length),
    },
    dict: {
      keys: dict => dict.keys(), values: dict => dict.values(), items: dict => dict.entries().map(pair => Tuple.from(pair)),
      get: (dict, [key, other = null]) => dict.has(key) ? dict.get(key) : other,
      setdefault: (dict, [key, other = null]) => {
        if (!dict.has(key)) dict.set(key, other);
        return dict.get(key);
      },
      pop: (dict, [key, other]) => {
        if (!dict.has(key)) return other === undefined ? fail(`${printing.repr(key)} is not a key of this dictionary.`) : other;
        const value = dict.get(key);
        dict.delete(key);
        return value;
      },
      update: (dict, [more = new Dict()], named, items) => {
        const pairs = more instanceof Dict ? more.entries() : Array.from(items(more), pair => [...items(pair)]);
        [...pairs, ...Object.entries(named)].forEach(pair => dict.set(...pair));
      },
      copy: dict => new dict.constructor(dict.entries(), dict.make), clear: dict => dict.all.clear(), __getitem__: (dict, [key]) => library.getItem(dict, key),
      popitem: dict => {
        const last = dict.entries().at(-1) ?? fail('popitem: the dictionary is empty.');
        dict.delete(last[0]);
        return Tuple.from(last);
      },
    },
  };
  const kind = value => typeof value === 'string' ? [methods.text] : value instanceof Counter ? [methods.counter, methods.dict] : value instanceof Dict ? [methods.dict] : value instanceof Bytes ? [methods.bytes] : value instanceof Group ? [methods.set] : value instanceof Tuple ? [methods.tuple] : Array.isArray(value) ? [methods.list, methods.tuple] : [];
  const method = (value, name) => kind(value).find(table => Object.hasOwn(table, name))?.[name];
  const ofType = (type, name) => methods[type] && Object.hasOwn(methods[type], name) ? methods[type][name] : null;  // str.lower
  const names = value => kind(value).flatMap(Object.keys);
  return {method, ofType, names};
})();
