// Values as Python writes them: repr and str, the letters after a colon in f"…", and arrays and tensors in their columns.
globalThis.printing = (() => {
  const {Tuple, Tensor, Complex, Dict, Counter, DefaultDict, Group, Bytes, Instance, fail, product, countFrom, values, part} = tensors;

  // --- one number ---

  const isNegative = x => x < 0 || Object.is(x, -0);
  const strange = x => Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf';  // what is not finite
  const exponent = text => text.replace(/e([-+])(\d)$/, 'e$10$2');  // two digits at least
  function fixed(x, digits) {  // a number that lies in the middle goes to the even digit; JavaScript takes the larger one
    if (!Number.isFinite(x)) return strange(x);
    const size = Math.abs(x), more = size < 1e20 ? size.toFixed(Math.min(100, digits + 30)) : `${BigInt(size)}.${'0'.repeat(digits + 30)}`;
    const cut = more.length - Math.min(30, 100 - digits), [kept, rest] = [more.slice(0, cut), more.slice(cut)];
    const up = /^50*$/.test(rest) ? /[13579]\.?$/.test(kept) : rest[0] >= '5';
    const whole = kept.replace('.', ''), made = String(BigInt(whole) + BigInt(up)).padStart(digits + 1, '0');
    return `${isNegative(x) ? '-' : ''}${digits ? `${made.slice(0, -digits)}.${made.slice(-digits)}` : made}`;
  }
  const scientific = (x, digits) => Number.isFinite(x) ? `${Object.is(x, -0) ? '-' : ''}${exponent(x.toExponential(digits))}` : strange(x);
  function general(x, digits, keepsZeros) {  // g: as many digits, with an exponent where that is shorter
    if (!Number.isFinite(x)) return strange(x);
    const [mantissa, power] = scientific(x, Math.max(0, digits - 1)).split('e'), small = Number(power) < -4 || Number(power) >= digits;
    const trimmed = text => text.includes('.') && !keepsZeros ? text.replace(/\.?0+$/, '') : text;
    return small ? `${trimmed(mantissa)}e${power}` : trimmed(fixed(x, Math.max(0, digits - 1 - Number(power))));
  }
  function float(x) {  // the fewest digits that tell it from all others
    if (!Number.isFinite(x)) return strange(x);
    const power = Math.floor(Math.log10(Math.abs(x) || 1));
    if (power < -4 || power >= 16) return exponent(x.toExponential());
    return `${Object.is(x, -0) ? '-' : ''}${x}${Number.isInteger(x) ? '.0' : ''}`;
  }
  const escaped = sign => ({'\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r'})[sign] ?? `\\x${sign.charCodeAt().toString(16).padStart(2, '0')}`;
  const text = value => {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    return quote + value.replace(/[\\\x00-\x1f\x7f-\xa0\xad]/g, escaped).replaceAll(quote, `\\${quote}`) + quote;
  };

  // --- f"{value:spec}" ---

  const SPEC = /^(?:(.)?([<>=^]))?([-+ ]?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([a-zA-Z%]?)$/u;
  function format(value, spec) {
    if (value instanceof Tensor && !value.shape.length) value = item(value);
    if (!spec) return str(value);
    const [, fill, align, sign, , zero, width, grouping, precision, kind] = spec.match(SPEC) ?? fail(`“${spec}” is no format that this page knows.`);
    const isText = typeof value === 'string', isInt = typeof value === 'bigint' || typeof value === 'boolean' && kind;
    if (!isText && !isInt && typeof value !== 'number') {
      if (typeof value !== 'boolean') fail(`${value instanceof Tensor ? `A ${value.what}` : 'This value'} cannot be written as “${spec}”.`);
      value = str(value);
    }
    const digits = precision === undefined ? 6 : Number(precision), number = typeof value === 'number' ? value : Number(value);
    if (typeof value === 'string' && !/^s?$/.test(kind) || typeof value !== 'string' && kind === 's') fail(`“${spec}” does not fit ${typeof value === 'string' ? 'a text' : 'a number'}.`);
    const kinds = {
      f: () => fixed(number, digits), F: () => fixed(number, digits), e: () => scientific(number, digits), E: () => scientific(number, digits).toUpperCase(),
      g: () => general(number, digits || 1), '%': () => `${fixed(number * 100, digits)}%`, d: () => isInt ? String(BigInt(value)) : fail('“d” is for whole numbers, and this is a float.'),
      x: () => value.toString(16), b: () => value.toString(2), o: () => value.toString(8),
      s: () => precision === undefined ? value : [...value].slice(0, digits).join(''),
      '': () => typeof value === 'string' ? kinds.s() : isInt ? String(value) : precision === undefined ? float(number) : withPoint(general(number, digits || 1)),
    };
    let written = (kinds[kind] ?? fail(`“${spec}” is no format that this page knows.`))();
    if (typeof value !== 'string' && '+ '.includes(sign || '?') && !written.startsWith('-')) written = sign + written;
    if (grouping) written = written.replace(/\d+/, whole => whole.replace(/\B(?=(?:\d{3})+$)/g, grouping));
    const missing = Math.max(0, Number(width) - [...written].length), padding = (fill ?? (zero ? '0' : ' ')).repeat(missing);
    const where = align ?? (zero ? '=' : typeof value === 'string' ? '<' : '>'), half = missing >> 1;
    if (where === '=') return written.replace(/^[-+ ]?/, first => first + padding);
    return where === '<' ? written + padding : where === '>' ? padding + written : padding.slice(0, padding.length / missing * half) + written + padding.slice(padding.length / (missing || 1) * half);
  }
  const withPoint = written => /[.en]/.test(written) ? written : `${written}.0`;

  // --- arrays, as NumPy lays them out: columns of equal width, in lines of 75 signs, and only the ends of what is long ---

  const EDGE = 3, LONG = 1000;
  function columns(x) {  // how each of its numbers is written
    const all = product(x.shape) > LONG ? edges(x) : values(x);
    if (x.dtype === 'bool') return number => (number ? 'True' : 'False').padStart(x.shape.length ? 5 : 0);
    if (x.dtype === 'complex') return number => repr(number);
    const finite = all.filter(Number.isFinite), sizes = finite.map(Math.abs).filter(Boolean), [most, least] = [Math.max(...sizes), Math.min(...sizes)];
    if (x.dtype !== 'float') {
      const width = Math.max(...all.map(number => String(number).length));
      return number => String(number).padStart(width);
    }
    const powers = sizes.length > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
    const cut = written => written.replace(/(\.\d*?)0+$/, '$1');
    const short = number => {  // with eight decimals at most
      const [mantissa, power] = number.toExponential().split('e'), negative = Object.is(number, -0) ? '-' : '';
      if (!powers) return negative + cut(mantissa.replace(/[-.]/g, '').length - 1 - Number(power) > 8 ? fixed(number, 8).replace(/^-(?=0\.0+$)/, '-') : withDot(plain(number)));
      return negative + cut(withDot(mantissa.split('.')[1]?.length > 8 ? number.toExponential(8).split('e')[0] : mantissa)) + 'e' + exponent(`e${power}`).slice(1);
    };
    const parts = finite.map(number => short(number).match(/^([^.]*)\.(\d*)(.*)$/)), longest = at => Math.max(0, ...parts.map(found => found[at].length));
    const [left, right, power] = [1, 2, 3].map(longest), after = powers ? right + power + 1 : right + 1;
    const strangers = all.filter(number => !Number.isFinite(number)).map(number => strange(number).length - after);
    const before = Math.max(left, ...strangers);
    return number => {
      if (!Number.isFinite(number)) return strange(number).padStart(before + after);
      const [, whole, decimals, end] = short(number).match(/^([^.]*)\.(\d*)(.*)$/);
      return `${whole.padStart(before)}.${powers ? decimals.padEnd(right, '0') + end : decimals.padEnd(right)}`;
    };
  }
  const plain = number => {  // 1e-7, too, without an exponent
    const [mantissa, power] = number.toExponential().split('e');
    return Number(power) < -6 ? number.toFixed(Math.min(100, (mantissa.split('.')[1]?.length ?? 0) - Number(power))) : String(number);
  };
  const withDot = written => written.includes('.') ? written : `${written}.`;
  const ends = size => size > 2 * EDGE ? [...countFrom(EDGE), ...countFrom(EDGE).map(at => size - EDGE + at)] : countFrom(size);
  function edges(x) {
    return x.shape.length ? ends(x.shape[0]).flatMap(at => edges(part(x, at))) : values(x);
  }
  function laidOut(x, write, between, indent, room) {  // indent: what a new line begins with
    if (!x.shape.length) return write(values(x)[0]);
    const long = room.long && x.shape[0] > 2 * EDGE, places = long ? ends(x.shape[0]) : countFrom(x.shape[0]);
    const inner = places.map(at => laidOut(part(x, at), write, between, `${indent} `, {...room, width: room.width - 1}));
    if (long) inner.splice(EDGE, 0, '...');
    if (x.shape.length > 1) return `[${inner.join(`${between.trimEnd()}${'\n'.repeat(x.shape.length - 1)}${indent} `)}]`;
    const lines = [], own = `${indent} `;
    let line = own;
    inner.forEach((word, at) => {
      if (line.length + word.length > room.width - 1 && line.length > own.length) {
        lines.push(line.trimEnd());
        line = own;
      }
      line += word + (at < inner.length - 1 ? between : '');
    });
    return `[${[...lines, line].join('\n').slice(own.length)}]`;
  }
  const array = (x, prefix, between, suffix) =>
    laidOut(x, columns(x), between, ' '.repeat(prefix.length), {width: 75 - suffix, long: product(x.shape) > LONG});

  // --- tensors, as PyTorch does: four decimals, lines of 80 signs ---

  function tensor(x) {
    const all = product(x.shape) > LONG ? edges(x) : values(x), sizes = all.filter(number => Number.isFinite(number) && number !== 0).map(Math.abs);
    const [most, least] = [Math.max(...sizes), Math.min(...sizes)], whole = all.every(number => Number.isInteger(number) || !Number.isFinite(number));
    const powers = sizes.length > 0 && (most / least > 1000 || most > 1e8 || !whole && least < 1e-4);
    const write = number => x.dtype === 'bool' ? (number ? 'True' : 'False') : x.dtype === 'complex' ? repr(number) : x.dtype !== 'float' ? String(number)
      : powers ? scientific(number, 4) : whole ? `${fixed(number, 0)}${Number.isFinite(number) ? '.' : ''}` : fixed(number, 4);
    const width = Math.max(0, ...(x.dtype === 'float' ? all.filter(number => number !== 0 || !sizes.length) : all).map(number => write(number).length));
    const inOrder = (one, indent) => {
      if (!one.shape.length) return write(values(one)[0]).padStart(x.shape.length ? width : 0);
      const long = product(x.shape) > LONG && one.shape[0] > 2 * EDGE;
      const inner = (long ? ends(one.shape[0]) : countFrom(one.shape[0])).map(at => inOrder(part(one, at), indent + 1));
      if (long) inner.splice(EDGE, 0, one.shape.length > 1 ? '...' : ' ...');
      if (one.shape.length > 1) return `[${inner.join(`,${'\n'.repeat(one.shape.length - 1)}${' '.repeat(indent + 1)}`)}]`;
      const row = Math.max(1, Math.floor((80 - indent) / (width + 2))), lines = countFrom(Math.ceil(inner.length / row)).map(at => inner.slice(at * row, (at + 1) * row).join(', '));
      return `[${lines.join(`,\n${' '.repeat(indent + 1)}`)}]`;
    };
    return `tensor(${inOrder(x, 7)})`;
  }

  // --- all kinds of value ---

  const scalar = (number, dtype) => dtype === 'bool' ? Boolean(number) : dtype === 'int' || dtype === 'uint8' ? BigInt(number) : number;
  const item = x => scalar(values(x)[0], x.dtype);
  const NUMPY = {float: 'float64', int: 'int64', uint8: 'uint8', complex: 'complex128'};
  function repr(value) {
    if (value === null || value === undefined) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'number') return float(value);
    if (typeof value === 'string') return text(value);
    if (value instanceof Complex) return `(${value.re}${value.im < 0 ? '' : '+'}${value.im}j)`;
    if (value instanceof Instance) return value.kind.find('__repr__')?.([value], {}) ?? fail(`Nothing says how ${value.kind.title} is written: it has no __repr__ that this page knows.`);
    if (value instanceof Bytes) return `b${text(value.text).replace(/[\xa1-\xff]/g, escaped)}`;
    if (value instanceof Group) return value.size ? `{${Array.from(value, repr).join(', ')}}` : 'set()';
    if (value instanceof Counter) return `Counter(${value.all.size ? repr(new Dict(value.mostCommon())) : ''})`;
    if (value instanceof DefaultDict) return `defaultdict(${repr(value.make)}, ${repr(new Dict(value.entries()))})`;
    if (value instanceof Dict) return `{${[...value.entries()].map(([key, one]) => `${repr(key)}: ${repr(one)}`).join(', ')}}`;
    if (value instanceof Tuple && value.isSize) return `torch.Size([${value.map(repr).join(', ')}])`;
    if (value instanceof Tuple) return `(${value.map(repr).join(', ')}${value.length === 1 ? ',' : ''})`;
    if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
    if (value instanceof Tensor && !value.numpy) return tensor(value);
    if (value instanceof Tensor && !value.shape.length) return value.dtype === 'bool' ? `np.${repr(item(value))}_` : `np.${NUMPY[value.dtype]}(${repr(item(value))})`;
    if (value instanceof Tensor) {
      const written = `array(${array(value, 'array(', ', ', 1)}`, shape = product(value.shape) > LONG ? `shape=${repr(Tuple.from(value.shape.map(BigInt)))}` : '';
      const far = written.length - written.lastIndexOf('\n') - 1 + shape.length + 2 > 75;
      return `${written}${shape && (far ? ',\n      ' : ', ')}${shape})`;
    }
    return value?.dtype ?? (value?.range ? value.range : String(value.title ?? value.name ?? 'a value'));
  }
  function str(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Tensor && value.numpy) return value.shape.length ? array(value, '', ' ', 0) : repr(item(value));
    if (value instanceof Instance && value.kind.find('__str__')) return value.kind.find('__str__')([value], {});
    return repr(value);
  }
  return {repr, str, format, fixed, item, scalar};
})();
