// Methods of texts, lists and dictionaries.
globalThis.containers = (() => {
  const {Tuple, Dict, fail} = tensors, {format} = printing;
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
      find: (text, [part]) => BigInt(text.indexOf(part)),
      index: (text, [part]) => text.includes(part) ? BigInt(text.indexOf(part)) : fail(`“${part}” is not in this text.`),
      isalpha: text => /^\p{L}+$/u.test(text), isdigit: text => /^\d+$/.test(text), isspace: text => /^\s+$/.test(text), isupper: text => text !== text.toLowerCase() && text === text.toUpperCase(),
      format: filled,
    },
    list: {
      append: (list, [one]) => void list.push(one),
      extend: (list, [more], _, items) => void list.push(...items(more)),
      insert: (list, [at, one]) => void list.splice(Number(at), 0, one),
      pop: (list, [at = -1n]) => list.length ? list.splice(Number(at), 1)[0] : fail('pop: the list is empty.'),
      reverse: list => void list.reverse(), copy: list => [...list],
      clear: list => void list.splice(0),
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
      update: (dict, [more]) => more.entries().forEach(pair => dict.set(...pair)), copy: dict => new Dict(dict.entries()),
    },
  };
  const kind = value => typeof value === 'string' ? [methods.text] : value instanceof Dict ? [methods.dict] : value instanceof Tuple ? [methods.tuple] : Array.isArray(value) ? [methods.list, methods.tuple] : [];
  const method = (value, name) => kind(value).find(table => Object.hasOwn(table, name))?.[name];
  const names = value => kind(value).flatMap(Object.keys);
  return {method, names};
})();
