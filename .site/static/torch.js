// What the code typed on a page may call: names of PyTorch, NumPy, math and Python, which mean here what they mean there.
globalThis.library = (() => {
  const {Fault, Tuple, Tensor, Complex, Dict, Counter, DefaultDict, Group, Bytes, Instance, Ellipsis, fail, product, shown, countFrom, values, make, filled, copy, typed, widest, dimension, permute, swap, turned, unsqueeze, squeeze,
    diagonal, reshape, view, flatten, expand, each, reduce, along, sum, most, least, variance, logSum, softmax, einsum, matmul, triangle, joined, pieces, write, part, setPart, spanOf} = tensors;
  const {repr, str, format, fixed, scalar} = printing;
  const isTensor = value => value instanceof Tensor;
  const isNumber = value => ['bigint', 'number', 'boolean'].includes(typeof value) || value instanceof Complex;
  const kindOf = value => value === null || value === undefined ? 'None' : isTensor(value) ? (value.numpy ? 'a NumPy array' : 'a tensor') : typeof value === 'bigint' ? 'a whole number'
    : typeof value === 'number' ? 'a float' : value instanceof Complex ? 'a complex number'
    : typeof value === 'boolean' ? 'a boolean' : typeof value === 'string' ? 'a text' : value instanceof Tuple ? 'a tuple' : Array.isArray(value) ? 'a list' : value instanceof Dict ? 'a dictionary' : value instanceof Group ? 'a set' : value instanceof Bytes ? 'bytes' : value instanceof Instance ? `a ${value.kind.title}` : 'a function or module';

  // --- from Python's values to plain numbers, and back ---

  function int(value) {
    if (typeof value === 'bigint' || typeof value === 'boolean') return Number(value);
    if (isTensor(value) && product(value.shape) === 1 && value.dtype !== 'float') return values(value)[0];
    return fail(`A whole number is needed here, not ${typeof value === 'number' ? `the float ${repr(value)}` : kindOf(value)}.`);
  }
  function float(value) {
    if (isNumber(value) && !(value instanceof Complex)) return Number(value);
    if (isTensor(value) && product(value.shape) === 1 && !(value.numpy && value.shape.length)) return values(value)[0];
    if (typeof value === 'string' && /^\s*[-+]?(inf|nan)/i.test(value)) return /nan/i.test(value) ? NaN : value.includes('-') ? -Infinity : Infinity;
    return fail(`A number is needed here, not ${kindOf(value)}${isTensor(value) ? ` of shape ${shown(value.shape)}` : ''}.`);
  }
  const ints = value => Array.isArray(value) ? Array.from(value, int) : int(value);
  const dimsOf = (value, none) => value === undefined || value === null || value.length === 0 && none ? undefined : ints(value);  // none: an empty tuple is all dimensions
  const sizes = list => Array.from(list.length === 1 && Array.isArray(list[0]) ? list[0] : list, int);
  const tuple = list => Tuple.from(list);
  const shapeOf = tensor => Object.assign(tuple(tensor.shape.map(BigInt)), {isSize: !tensor.numpy});
  const item = tensor => product(tensor.shape) === 1 ? scalar(values(tensor)[0], tensor.dtype) : fail(`item() needs a single number, not a shape of ${shown(tensor.shape)}.`);
  const truth = value => isTensor(value)
    ? product(value.shape) === 1 ? values(value)[0] !== 0 : fail(`A ${value.what} of shape ${shown(value.shape)} is neither true nor false; any() and all() make one boolean of it.`)
    : Array.isArray(value) ? value.length > 0 : value instanceof Dict ? value.all.size > 0 : value instanceof Group ? value.size > 0 : value instanceof Bytes ? value.text !== ''
    : value instanceof Instance && ['__bool__', '__len__'].some(name => value.kind.find(name)) ? truth(special(value, '__bool__') ?? special(value, '__len__')) : value?.range ? [...value].length > 0 : !(value === null || value === undefined || value === false || value === 0 || value === 0n || value === '');

  function tensorOf(value, numpy = false, dtype = undefined) {  // of a number or of nested lists
    if (isTensor(value)) return dtype && dtype !== value.dtype ? typed(value, dtype) : value;
    const shape = [], numbers = [], kinds = new Set(['bool']);
    (function add(one, depth) {
      if (isTensor(one) && one.shape.length === 0) one = item(one);
      const list = isTensor(one) ? parts(one) : Array.isArray(one) ? one : null;
      if (!list && !isNumber(one)) fail(`${kindOf(one).replace(/^a/, 'A')} cannot be part of ${numpy ? 'an array' : 'a tensor'}.`);
      if (list) {
        shape[depth] ??= list.length;
        if (shape[depth] !== list.length || numbers.length && depth >= shape.length) fail('The lists have different lengths.');
        list.forEach(inner => add(inner, depth + 1));
      } else {
        if (depth !== shape.length) fail('The lists have different depths.');
        numbers.push(one instanceof Complex ? one : Number(one));
        kinds.add({bigint: 'int', number: 'float', boolean: 'bool'}[typeof one] ?? 'complex');
      }
    })(value, 0);
    const made = make(numbers, shape, {dtype: numbers.length ? widest(...kinds) : 'float', numpy});
    if (made.dtype === 'complex' && !dtype) return typed(made, 'complex');
    return dtype ? typed(made, dtype) : made;
  }
  function parts(tensor) {  // along the first dimension
    if (!tensor.shape.length) fail('A single number cannot be gone through.');
    return countFrom(tensor.shape[0]).map(at => part(tensor, at));
  }
  function items(value) {  // whatever a `for` can go through
    if (isTensor(value)) return parts(value);
    if (value instanceof Bytes) return Array.from(value.text, sign => BigInt(sign.charCodeAt()));
    if (value instanceof Instance && value.kind.find('__iter__')) return items(special(value, '__iter__'));
    if (value !== null && value?.[Symbol.iterator]) return value;
    return fail(`${kindOf(value).replace(/^a/, 'A')} cannot be gone through item by item.`);
  }

  const special = (one, name, ...given) => one.kind.find(name)?.([one, ...given], {});
  const SPECIAL = {'+': 'add', '-': 'sub', '*': 'mul', '/': 'truediv', '//': 'floordiv', '%': 'mod', '**': 'pow', '@': 'matmul', '==': 'eq', '!=': 'ne', '<': 'lt', '>': 'gt', '<=': 'le', '>=': 'ge', '|': 'or', '&': 'and', '^': 'xor'};

  // --- operators ---

  const floorMod = (a, b) => a - b * Math.floor(a / b);
  const NUMBERS = {'+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '//': (a, b) => Math.floor(a / b), '%': floorMod, '**': (a, b) => a ** b,
    '==': (a, b) => a === b, '!=': (a, b) => a !== b, '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b,
    '<<': (a, b) => typeof a === 'bigint' ? a << b : a * 2 ** b, '>>': (a, b) => typeof a === 'bigint' ? a >> b : Math.floor(a / 2 ** b),
    '&': (a, b) => a & b, '|': (a, b) => a | b, '^': (a, b) => a ^ b};
  const BITS = ['&', '|', '^', '<<', '>>'], COMPARES = ['==', '!=', '<', '>', '<=', '>='];

  const asComplex = one => one instanceof Complex ? one : new Complex(Number(one));
  const complexly = change => Object.assign((...given) => change(...given.map(asComplex)), {complex: true});
  const turnedBy = (size, angle) => new Complex(size * Math.cos(angle), size * Math.sin(angle));
  const COMPLEX = {'+': (a, b) => new Complex(a.re + b.re, a.im + b.im), '-': (a, b) => new Complex(a.re - b.re, a.im - b.im),
    '*': (a, b) => new Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re),
    '/': (a, b) => COMPLEX['*'](a, new Complex(b.re / (b.re ** 2 + b.im ** 2), -b.im / (b.re ** 2 + b.im ** 2))),
    '**': (a, b) => b.im ? fail('This page knows no complex exponents of **.') : turnedBy(Math.hypot(a.re, a.im) ** b.re, Math.atan2(a.im, a.re) * b.re)};
  const ofComplex = sign => complexly(COMPLEX[sign] ?? fail(`This page does not know ${sign} for complex numbers.`));
  const exp = complexly(z => turnedBy(Math.exp(z.re), z.im));

  function operate(sign, one, other) {
    if (isTensor(one) || isTensor(other)) return operateOnTensors(sign, one, other);
    if ((one instanceof Complex || other instanceof Complex) && isNumber(one) && isNumber(other)) return ofComplex(sign)(one, other);
    for (const [value, prefix, given] of [[one, '', other], [other, 'r', one]])
      if (value instanceof Instance && value.kind.find(`__${prefix}${SPECIAL[sign]}__`)) return special(value, `__${prefix}${SPECIAL[sign]}__`, given);
    if (sign === '==' || sign === '!=') return same(one, other) === (sign === '==');
    if (one instanceof Group && other instanceof Group) return operateOnSets(sign, one, other);
    if (one instanceof Bytes && other instanceof Bytes && (sign === '+' || COMPARES.includes(sign))) return sign === '+' ? new Bytes(one.text + other.text) : NUMBERS[sign](one.text, other.text);
    if (sign === '*' && one instanceof Bytes && typeof other === 'bigint') return new Bytes(one.text.repeat(Math.max(0, Number(other))));
    if (one instanceof Counter && other instanceof Counter && '+-'.includes(sign)) {
      const all = [...one.keys(), ...other.keys()], count = key => operate(sign, one.get(key) ?? 0n, other.get(key) ?? 0n);
      return new Counter(all.map(key => [key, count(key)]).filter(([, many]) => many > 0n));
    }
    if (isNumber(one) && isNumber(other)) return operateOnNumbers(sign, one, other);
    if (sign === '+' && Array.isArray(one) && Array.isArray(other) && one instanceof Tuple === other instanceof Tuple) return one.concat(other);
    if (typeof one === 'string' && typeof other === 'string' && (sign === '+' || COMPARES.includes(sign))) return sign === '+' ? one + other : NUMBERS[sign](one, other);
    if (Array.isArray(one) && Array.isArray(other) && COMPARES.includes(sign)) return operateInOrder(sign, one, other);
    if (sign === '*' && typeof one === 'bigint' && (typeof other === 'string' || Array.isArray(other) || other instanceof Bytes)) return operate(sign, other, one);
    if (sign === '*' && typeof one === 'string' && typeof other === 'bigint') return one.repeat(Math.min(1000, Math.max(0, Number(other))));
    if (sign === '|' && one instanceof Dict && other instanceof Dict && !(one instanceof Counter)) return new Dict([...one.entries(), ...other.entries()]);
    if (sign === '*' && Array.isArray(one) && typeof other === 'bigint') return one.constructor.from(countFrom(Math.min(1000, Math.max(0, Number(other)))).flatMap(() => [...one]));
    return fail(`${kindOf(one)} ${sign} ${kindOf(other)}: Python knows no such operation.`.replace(/^a/, 'A'));
  }
  function operateOnSets(sign, one, other) {
    const inside = (less, more) => [...less].every(value => more.has(value)), [few, many] = [one.size, other.size];
    const made = {'|': () => new Group([...one, ...other]), '&': () => new Group([...one].filter(value => other.has(value))), '-': () => new Group([...one].filter(value => !other.has(value))),
      '^': () => new Group([...[...one].filter(value => !other.has(value)), ...[...other].filter(value => !one.has(value))]),
      '<=': () => inside(one, other), '>=': () => inside(other, one), '<': () => few < many && inside(one, other), '>': () => few > many && inside(other, one)};
    return (made[sign] ?? fail(`A set ${sign} a set: Python knows no such operation.`))();
  }
  function same(one, other) {
    if (one instanceof Group && other instanceof Group) return operateOnSets('<=', one, other) && one.size === other.size;
    if (one instanceof Bytes || other instanceof Bytes) return one?.text === other?.text;
    if (one instanceof Tuple !== other instanceof Tuple && Array.isArray(one) && Array.isArray(other)) return false;
    if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((value, at) => same(value, other[at]));
    if (one instanceof Dict && other instanceof Dict) return one.all.size === other.all.size && one.entries().every(([key, value]) => other.has(key) && same(value, other.get(key)));
    return isNumber(one) && isNumber(other) ? Number(one) === Number(other) : one === other || one?.dtype !== undefined && one.dtype === other?.dtype;
  }
  function operateInOrder(sign, one, other) {  // the first items that differ decide
    const at = one.findIndex((value, place) => place >= other.length || !same(value, other[place]));
    return at >= 0 && at < other.length ? truth(operate(sign, one[at], other[at])) : NUMBERS[sign](one.length, other.length);
  }
  function operateOnNumbers(sign, one, other) {
    if (COMPARES.includes(sign) || '&|^'.includes(sign) && typeof one === 'boolean' && typeof other === 'boolean') {
      const made = NUMBERS[sign](Number(one), Number(other));
      return Boolean(made);
    }
    const [a, b] = [one, other].map(value => typeof value === 'boolean' ? BigInt(value) : value), whole = typeof a === 'bigint' && typeof b === 'bigint';
    if (['/', '//', '%'].includes(sign) && Number(b) === 0) fail('Division by zero.');
    if (sign === '@') fail('@ multiplies matrices, and these are numbers.');
    if (BITS.includes(sign) && !whole) fail(`${sign} needs booleans or whole numbers.`);
    if (sign === '<<' && b > 999n) fail('This number is too large for this page.');
    if (!whole || sign === '/' || sign === '**' && b < 0n) return NUMBERS[sign](Number(a), Number(b));
    if (sign === '**' && (b > 999n || a > 10n ** 30n)) fail('This number is too large for this page.');
    if (sign === '//') return (a - (a % b + b) % b) / b;
    return sign === '%' ? (a % b + b) % b : NUMBERS[sign](a, b);
  }
  function operateOnTensors(sign, one, other) {
    const numpy = [one, other].some(value => isTensor(value) && value.numpy && (value.shape.length || !isTensor(one) || !isTensor(other) || one.numpy && other.numpy));
    for (const value of [one, other]) {
      if (isTensor(value) && value.numpy !== numpy && value.shape.length) fail('A tensor and a NumPy array do not mix here: torch.from_numpy makes a tensor of an array.');
      if (!isTensor(value) && !isNumber(value) && !(numpy && Array.isArray(value))) {
        if (sign === '==' || sign === '!=') return sign === '!=';
        fail(`${kindOf(one)} ${sign} ${kindOf(other)} does not work.`.replace(/^a/, 'A'));
      }
    }
    const [a, b] = [one, other].map(value => tensorOf(value, numpy)).map(value => value.numpy === numpy ? value : make(values(value), [], {...value, numpy}));
    if (sign === '@') return isTensor(one) && isTensor(other) ? matmul(a, b) : fail(`@ multiplies matrices: ${kindOf(one)} @ ${kindOf(other)} does not work.`);
    if (COMPARES.includes(sign)) return each(NUMBERS[sign], [a, b], 'bool');
    const staysByte = value => isTensor(value) ? value.dtype === 'uint8' : typeof value !== 'number' && !(value instanceof Complex);
    if (staysByte(one) && staysByte(other) && sign !== '/') return typed(each(NUMBERS[sign], [a, b], 'int'), 'uint8');  // from 255, it goes on with 0
    const dtype = widest(a.dtype, b.dtype);
    if (dtype === 'complex') return each(ofComplex(sign), [a, b], dtype);
    if (BITS.includes(sign)) return dtype === 'float' ? fail(`${sign} needs booleans or whole numbers, and these are floats.`) : each(NUMBERS[sign], [a, b], dtype);
    if (sign === '-' && a.dtype === 'bool' && b.dtype === 'bool') fail('Booleans cannot be subtracted; ~ turns True into False.');
    if (sign === '**' && dtype === 'int' && values(b).some(number => number < 0)) fail('Whole numbers have no negative powers here; make them floats first.');
    if (dtype === 'bool' && '+*'.includes(sign)) return each(sign === '+' ? (a, b) => a | b : (a, b) => a & b, [a, b], 'bool');
    return each(NUMBERS[sign], [a, b], sign === '/' ? 'float' : dtype === 'bool' ? 'int' : dtype);
  }
  function unary(sign, value) {
    if (sign === '-' && (value instanceof Complex || value?.dtype === 'complex')) return operate('*', -1, value);
    if (sign === 'not') return !truth(value);
    if (isTensor(value)) {
      if (sign === '~') return value.dtype === 'bool' ? each(number => !number, [value]) : ['int', 'uint8'].includes(value.dtype) ? typed(each(number => -number - 1, [value]), value.dtype)
        : fail('~ needs booleans, and these are floats.');
      if (value.dtype === 'bool' && sign === '-') fail('Booleans cannot be negated by -; ~ turns True into False.');
      return sign === '-' ? typed(each(number => -number, [value]), value.dtype) : value;
    }
    const number = typeof value === 'boolean' ? BigInt(value) : isNumber(value) ? value : fail(`${sign} needs a number, not ${kindOf(value)}.`);
    return sign === '-' ? -number : sign === '~' ? (typeof number === 'bigint' ? -number - 1n : fail('~ needs a whole number.')) : number;
  }
  function inPlace(sign, target, value) {  // the target itself changes if it can
    if (sign === '+' && Array.isArray(target) && !(target instanceof Tuple)) {
      target.push(...items(value));
      return target;
    }
    if (target instanceof Dict && sign === '|' && !(target instanceof Counter)) return value.entries().forEach(pair => target.set(...pair)), target;
    if (target instanceof Group && value instanceof Group) {
      const made = [...operateOnSets(sign, target, value)];
      [...target].forEach(one => target.delete(one));
      return made.forEach(one => target.add(one)), target;
    }
    const made = operate(sign, target, value);
    if (!isTensor(target) || target.numpy && !target.shape.length) return made;
    if (made.dtype === 'float' && target.dtype !== 'float') fail(`${sign}= would write floats into a ${target.what} of ${target.dtype === 'int' ? 'whole numbers' : 'booleans'}.`);
    if (String(made.shape) !== String(target.shape)) fail(`${sign}= cannot change the shape ${shown(target.shape)} to ${shown(made.shape)}.`);
    write(target, made);
    return target;
  }

  // --- names: where they are known, what arguments they take ("?" may be left out, "*" by name only), what they do ---

  const known = {torch: {}, method: {}, np: {}, array: {}, F: {}, math: {}, cmath: {}};
  function define(places, names, signature, apply) {
    for (const place of places.split(' ')) for (const name of names.split(' ')) known[place][name] = {name, place, signature: signature.split(' '), apply};
  }
  const ALIASES = {axis: 'dim', keepdims: 'keepdim', input: 'x', a: 'x'};
  const PREFIX = {torch: 'torch.', np: 'np.', F: 'F.', math: 'math.', cmath: 'cmath.', rng: '.', method: '.', array: '.', attention: 'attention.', masks: 'masks.'};
  function call({name, place, signature, apply}, args, keywords) {
    const title = PREFIX[place] + name, values = [], numpy = place === 'np' || place === 'array';
    if (signature[0].startsWith('...')) values.push(args.splice(0));
    else if (signature[0] === 'x' && signature[1]?.startsWith('...')) values.push(args.shift(), args.splice(0));
    const names = signature.map(one => one.replace(/^\.\.\.|\?$/g, '')), positional = names.includes('*') ? names.indexOf('*') : names.length;
    if (args.length + values.length > positional) fail(`${title} takes ${positional} argument${positional === 1 ? '' : 's'} at most, and there are ${args.length + values.length}.`);
    values.push(...args);
    for (const [keyword, value] of Object.entries(keywords)) {
      const at = names.indexOf(names.includes(keyword) || numpy ? keyword : ALIASES[keyword]);
      if (at < 0 && ['device', 'requires_grad', 'out'].includes(keyword)) continue;
      if (at < 0) fail(`${title} has no argument “${keyword}” here${names.length > 1 ? `; it has ${names.filter(one => !['x', '*'].includes(one)).join(', ')}` : ''}.`);
      values[at] = value;
    }
    signature.forEach((one, at) => {
      if (values[at] === undefined && !one.endsWith('?') && one !== '*') fail(`${title} needs ${one === 'x' ? 'a tensor or a number' : `the argument “${one.replace('...', '')}”`}.`);
    });
    if (signature[0] === 'x') values[0] = first(values[0], title, place, name);
    return apply(...values);
  }
  function first(value, title, place, name) {
    if (place === 'np') return isTensor(value) && !value.numpy ? fail(`On this page ${title} takes NumPy arrays, and this is a tensor${known.torch[name] ? `, which torch.${name} takes` : ''}.`) : tensorOf(value, true);
    if (isTensor(value) && (place === 'method' || place === 'array' || !value.numpy)) return value;
    return fail(`${title} takes a tensor, and this is ${kindOf(value)}${isTensor(value) && known.np[name] ? `, which np.${name} takes` : ''}.`);
  }
  const floats = tensor => tensor.dtype === 'float' ? tensor : typed(tensor, 'float');
  const dtypeOf = value => value === undefined || value === null ? undefined : value.dtype ?? fail('This is no dtype that this page knows.');
  const like = (value, tensor) => tensorOf(value, tensor.numpy);

  const sigmoid = x => x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
  const rounded = x => Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
  function erf(x) {  // a series of positive terms
    if (Math.abs(x) > 6) return Math.sign(x);
    let [term, total] = [x, x];
    for (let n = 1; n < 200; n++) total += term *= 2 * x * x / (2 * n + 1);
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * total;
  }
  const FLOATS = {exp: Math.exp, exp2: number => 2 ** number, log: Math.log, log2: Math.log2, log10: Math.log10, log1p: Math.log1p, expm1: Math.expm1,
    sqrt: Math.sqrt, sin: Math.sin, cos: Math.cos, tanh: Math.tanh};
  for (const [name, change] of Object.entries(FLOATS)) {
    define('torch method np', name, 'x', x => each(change, [floats(x)]));
    define('math', name, 'number', number => {
      const made = change(float(number));
      return Number.isNaN(made) ? fail(`math.${name} is not defined for ${repr(float(number))}.`) : !Number.isFinite(made) && Number.isFinite(float(number)) ? fail(`math.${name}: the result is too large for a float.`) : made;
    });
  }
  define('torch method np', 'exp', 'x', x => x.dtype === 'complex' ? each(exp, [x]) : each(Math.exp, [floats(x)]));
  define('cmath', 'exp', 'number', exp);
  define('cmath', 'rect', 'r phi', (size, angle) => turnedBy(float(size), float(angle)));
  define('torch', 'polar', 'x angle', (x, angle) => each(Object.assign(turnedBy, {complex: true}), [x, angle], 'complex'));
  define('torch', 'complex', 'x imag', (x, imag) => each(complexly((a, b) => new Complex(a.re, b.re)), [x, imag], 'complex'));
  const partOf = (z, name) => z instanceof Complex ? z[name] : name === 're' ? z : 0;
  const realPart = (x, name) => each(Object.assign(z => partOf(z, name), {complex: true}), [x], 'float');
  define('torch method', 'view_as_real', 'x', x => joined(['re', 'im'].map(name => unsqueeze(realPart(x, name), -1)), -1));
  define('torch method', 'view_as_complex', 'x', x => x.shape.at(-1) === 2 ? known.torch.complex.apply(...[0, 1].map(at => part(x, tuple([Ellipsis, at]))))
    : fail(`view_as_complex needs a last dimension of 2, and the shape is ${shown(x.shape)}.`));
  define('torch method', 'rsqrt', 'x', x => each(number => 1 / Math.sqrt(number), [floats(x)]));
  define('torch method F', 'sigmoid', 'x', x => each(sigmoid, [floats(x)]));
  define('torch method', 'erf', 'x', x => each(erf, [floats(x)]));
  define('F', 'tanh', 'x', x => each(Math.tanh, [floats(x)]));
  define('F', 'silu', 'x', x => each(number => number * sigmoid(number), [floats(x)]));
  define('F', 'gelu', 'x * approximate?', (x, _, approximate) => each(number => approximate === 'tanh'
    ? number / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (number + 0.044715 * number ** 3))) : number / 2 * (1 + erf(number / Math.SQRT2)), [x]));
  define('F', 'leaky_relu', 'x negative_slope?', (x, slope = 0.01) => each(number => number < 0 ? slope * number : number, [x]));
  define('F', 'elu', 'x alpha?', (x, alpha = 1) => each(number => number > 0 ? number : float(alpha) * Math.expm1(number), [x]));
  define('F', 'softplus', 'x', x => each(number => number > 20 ? number : Math.log1p(Math.exp(number)), [x]));
  define('F', 'mish', 'x', x => each(number => number * Math.tanh(number > 20 ? number : Math.log1p(Math.exp(number))), [x]));
  define('F torch method', 'relu', 'x', x => each(number => number < 0 ? 0 : number, [x]));
  define('torch method np', 'abs', 'x', x => each(Math.abs, [x]));
  define('torch method np', 'square', 'x', x => each(number => number * number, [x]));
  define('torch method np', 'trunc', 'x', x => each(Math.trunc, [x]));
  define('torch method np', 'floor', 'x', x => each(Math.floor, [x]));
  define('torch method', 'neg', 'x', x => unary('-', x));
  define('torch method np', 'isnan', 'x', x => each(Number.isNaN, [x], 'bool'));
  define('torch method np', 'isfinite', 'x', x => each(Number.isFinite, [x], 'bool'));
  define('torch method np', 'isinf', 'x', x => each(number => Math.abs(number) === Infinity, [x], 'bool'));
  define('torch method np array', 'round', 'x decimals?', (x, decimals = 0n) => each(number => rounded(number * 10 ** int(decimals)) / 10 ** int(decimals), [x]));
  define('torch method np', 'nan_to_num', 'x nan? posinf? neginf?', (x, nan = 0, high = Number.MAX_VALUE, low = -Number.MAX_VALUE) => each(number =>
    Number.isNaN(number) ? float(nan) : Number.isFinite(number) ? number : float(number > 0 ? high : low), [x]));

  for (const [sign, names] of Object.entries({'+': 'add', '-': 'sub', '*': 'mul multiply', '/': 'div divide true_divide', '**': 'pow', '%': 'remainder', '==': 'eq', '!=': 'ne', '<': 'lt', '>': 'gt', '<=': 'le', '>=': 'ge',
    '@': 'matmul', '&': 'bitwise_and logical_and', '|': 'bitwise_or logical_or', '^': 'bitwise_xor', '<<': 'bitwise_left_shift', '>>': 'bitwise_right_shift'})) {
    define('torch method', names, 'x other', (x, other) => operate(sign, x, other));
    if (!'+-*/&|'.includes(sign)) continue;
    define('method', names.split(' ').map(name => `${name}_`).join(' '), 'x other', (x, other) => inPlace(sign, x, other));
  }
  define('torch method', 'div divide', 'x other * rounding_mode?', (x, other, _, mode) =>
    mode === 'trunc' ? each(Math.trunc, [operate('/', x, other)], widest(x.dtype, like(other, x).dtype)) : operate(mode === 'floor' ? '//' : '/', x, other));
  for (const [name, one, other] of [['mm', 2, 2], ['bmm', 3, 3], ['mv', 2, 1], ['dot', 1, 1]])
    define('torch method', name, 'x other', (x, y) => x.shape.length === one && y.shape?.length === other ? matmul(x, y)
      : fail(`${name} takes a tensor with ${one} dimension${one > 1 ? 's' : ''} and one with ${other}, and these have the shapes ${shown(x.shape)} and ${shown(y.shape ?? [])}.`));
  for (const [name, sign] of Object.entries({add: '+', subtract: '-', multiply: '*', divide: '/', power: '**', matmul: '@', equal: '==', not_equal: '!=', less_equal: '<=', greater_equal: '>=', greater: '>', less: '<'}))
    define('np', name, 'x other', (x, other) => operate(sign, x, other));
  define('np array', 'dot', 'x other', (x, other) => x.shape.length && other.shape?.length ? operate('@', x, other) : operate('*', x, other));
  define('torch method np', 'maximum', 'x other', (x, other) => each((a, b) => a > b || Number.isNaN(a) ? a : b, [x, like(other, x)]));
  define('torch method np', 'minimum', 'x other', (x, other) => each((a, b) => a < b || Number.isNaN(a) ? a : b, [x, like(other, x)]));
  define('np torch method', 'logaddexp', 'x other', (x, other) => each((a, b) => logSum([a, b]), [x, like(other, x)], 'float'));
  const limited = (x, low, high) => each((number, min, max) => number < min ? min : number > max ? max : number, [x, like(low ?? -Infinity, x), like(high ?? Infinity, x)], widest(x.dtype, ...[low, high].filter(value => value !== undefined && value !== null).map(value => like(value, x).dtype)));
  define('torch method', 'clamp clip', 'x min? max?', limited);
  define('torch method', 'clamp_min', 'x min', limited);
  define('np array', 'clip', 'x min? max?', limited);

  // Numbers along dimensions become one: NumPy's names of the arguments are its own.
  const REDUCED = {sum: [sum, 'wide'], prod: [list => list.reduce((all, number) => all * number, 1), 'wide'], mean: [list => sum(list) / list.length, 'float'], amax: [most], amin: [least],
    all: [list => list.every(Boolean), 'bool'], any: [list => list.some(Boolean), 'bool'], logsumexp: [logSum, 'float']};
  const dtypeAfter = (x, kind) => kind === 'wide' ? x.dtype === 'float' ? 'float' : 'int' : kind;
  for (const [name, [whole, kind]] of Object.entries(REDUCED)) {
    define('torch method', name, 'x dim? keepdim? * dtype?', (x, dim, keep) => {
      if (name === 'mean' && x.dtype !== 'float') fail('mean needs floats, and this tensor holds whole numbers or booleans: float() makes floats of them.');
      if (keep !== undefined && dim === undefined && !name.startsWith('am')) fail(`${name} takes keepdim only beside dim.`);
      if (name.startsWith('am') && !product(x.shape)) fail(`${name} needs at least one number.`);
      return reduce(x, dimsOf(dim, true), truth(keep), whole, dtypeAfter(x, kind));
    });
    if (name !== 'logsumexp') define(name.startsWith('am') ? 'np' : 'np array', name, 'x axis? dtype? out? keepdims?', (x, axis, _, __, keep) => reduce(x, dimsOf(axis), truth(keep), whole, dtypeAfter(x, kind)));
  }
  for (const [name, whole, pick] of [['max', most, most], ['min', least, least]]) {
    define('np array', name, 'x axis? out? keepdims?', (x, axis, _, keep) => reduce(x, dimsOf(axis), truth(keep), whole));
    define('torch method', name, 'x dim? keepdim?', (x, dim, keep) => {
      if (isTensor(dim)) return each((a, b) => pick([a, b]), [x, dim]);
      if (dim === undefined) return reduce(x, undefined, false, whole);
      const found = reduce(x, int(dim), truth(keep), list => list.indexOf(whole(list)), 'int');
      return Object.assign(tuple([reduce(x, int(dim), truth(keep), whole), found]), {fields: ['values', 'indices']});
    });
  }
  for (const [name, best] of [['argmax', most], ['argmin', least]]) {
    define('torch method', name, 'x dim? keepdim?', (x, dim, keep) => reduce(x, dimsOf(dim), truth(keep), list => list.indexOf(best(list)), 'int'));
    define('np array', name, 'x axis? out? keepdims?', (x, axis, _, keep) => reduce(x, dimsOf(axis), truth(keep), list => list.indexOf(best(list)), 'int'));
  }
  for (const [name, root] of [['var', number => number], ['std', Math.sqrt]]) {
    define('torch method', name, 'x dim? unbiased? keepdim? * correction?', (x, dim, unbiased, keep, _, correction) => {
      if (x.dtype !== 'float') fail(`${name} needs floats: float() makes floats of whole numbers.`);
      if (typeof dim === 'boolean') [dim, unbiased] = [undefined, dim];
      if (unbiased !== undefined && typeof unbiased !== 'boolean') fail(`${name} takes True or False after dim; the correction is an argument with a name.`);
      const less = correction !== undefined ? float(correction) : Number(unbiased ?? true);
      return reduce(x, dimsOf(dim, true), truth(keep), list => root(variance(list, less)));
    });
    define('np array', name, 'x axis? dtype? out? ddof? keepdims? * correction?', (x, axis, _, __, ddof, keep, ___, correction) =>
      reduce(x, dimsOf(axis), truth(keep), list => root(variance(list, float(correction ?? ddof ?? 0n))), 'float'));
  }
  const length = (list, p) => p === 1 ? sum(list.map(Math.abs)) : p === Infinity ? most(list.map(Math.abs)) : sum(list.map(number => Math.abs(number) ** p)) ** (1 / p);
  define('torch method', 'norm', 'x p? dim? keepdim?', (x, p, dim, keep) => reduce(x, dimsOf(dim, true), truth(keep), list => length(list, p === undefined || p === null ? 2 : float(p))));
  define('np', 'ptp', 'x axis? out? keepdims?', (x, axis, _, keep) => reduce(x, dimsOf(axis), truth(keep), list => most(list) - least(list)));

  const real = (x, name) => x.dtype === 'float' ? x : fail(`${name} needs floats: float() makes floats of whole numbers.`);
  define('torch method F', 'softmax', 'x dim dtype?', (x, dim) => along(real(x, 'softmax'), int(dim), softmax));
  define('torch method F', 'log_softmax', 'x dim dtype?', (x, dim) => along(real(x, 'log_softmax'), int(dim), list => list.map(number => number - logSum(list))));
  define('torch method', 'addcmul', 'x tensor1 tensor2 * value?', (x, one, other, _, factor = 1n) =>
    operate('+', x, operate('*', factor, operate('*', one, other))));
  define('torch method', 'logical_not', 'x', x => each(number => !number, [x], 'bool'));
  define('method', 'logical_not_', 'x', x => (write(x, known.torch.logical_not.apply(x)), x));
  const running = (list, join) => list.reduce((all, number) => [...all, all.length ? join(all.at(-1), number) : number], []);
  for (const [name, join] of [['cumsum', (a, b) => a + b], ['cumprod', (a, b) => a * b]]) {
    define('torch method', name, 'x dim', (x, dim) => along(x, int(dim), list => running(list, join), dtypeAfter(x, 'wide')));
    define('np array', name, 'x axis?', (x, axis) => along(axis === undefined ? flatten(x) : x, axis === undefined ? 0 : int(axis), list => running(list, join), dtypeAfter(x, 'wide')));
  }
  define('torch method', 'cummax', 'x dim', (x, dim) => Object.assign(tuple([along(x, int(dim), list => running(list, (a, b) => Math.max(a, b))), null]), {fields: ['values']}));
  define('torch method', 'flip', 'x ...dims', (x, dims) => sizes(dims).reduce((one, dim) => along(one, dim, list => list.toReversed()), x));
  const ordered = (list, falling) => list.map((number, at) => [number, at]).sort(([a], [b]) => falling ? b - a : a - b);
  define('np', 'lexsort', 'keys', keys => {  // the last is the most important
    const lists = Array.from(items(keys), values).reverse(), order = countFrom(lists[0].length);
    return make(order.sort((one, other) => lists.map(list => list[one] - list[other]).find(Boolean) ?? 0), [order.length], {dtype: 'int', numpy: true});
  });
  define('np', 'sort', 'x axis?', (x, axis = -1n) => along(x, int(axis), list => list.toSorted((a, b) => a - b)));
  define('torch method', 'sort', 'x dim? descending?', (x, dim = -1n, falling = false) => Object.assign(tuple([along(x, int(dim), list => ordered(list, falling).map(([number]) => number)), along(x, int(dim), list => ordered(list, falling).map(([, at]) => at), 'int')]), {fields: ['values', 'indices']}));
  define('torch method', 'argsort', 'x dim? descending?', (x, dim = -1n, falling = false) => along(x, int(dim), list => ordered(list, falling).map(([, at]) => at), 'int'));
  define('torch method', 'topk', 'x k dim?', (x, k, dim = -1n) => Object.assign(tuple([0, 1].map(kind => along(x, int(dim), list => ordered(list, true).slice(0, int(k)).map(pair => pair[kind]), kind ? 'int' : x.dtype))), {fields: ['values', 'indices']}));

  // Shapes.
  define('torch method', 'transpose swapaxes swapdims', 'x dim0 dim1', (x, one, other) => swap(x, int(one), int(other)));
  define('np array', 'swapaxes', 'x axis1 axis2', (x, one, other) => swap(x, int(one), int(other)));
  define('array', 'transpose', 'x ...axes', (x, axes) => axes.length ? permute(x, sizes(axes)) : turned(x));
  define('np', 'transpose', 'x axes?', (x, axes) => axes ? permute(x, ints(axes)) : turned(x));
  define('torch method', 't', 'x', x => x.shape.length > 2 ? fail(`t() needs two dimensions at most, and the shape is ${shown(x.shape)}.`) : turned(x));
  define('method', 'permute', 'x ...dims', (x, dims) => permute(x, sizes(dims)));
  define('torch', 'permute', 'x dims', (x, dims) => permute(x, ints(dims)));
  define('np', 'moveaxis', 'x source destination', (x, from, to) => permute(x, countFrom(x.shape.length).filter(dim => dim !== dimension(int(from), x)).toSpliced(dimension(int(to), x), 0, dimension(int(from), x))));
  define('method array', 'reshape', 'x ...shape', (x, shape) => reshape(x, sizes(shape)));
  define('torch np', 'reshape', 'x shape', (x, shape) => reshape(x, sizes([shape])));
  define('method', 'view', 'x ...shape', (x, shape) => view(x, sizes(shape)));
  define('torch method', 'flatten', 'x start_dim? end_dim?', (x, start = 0n, end = -1n) => flatten(x, int(start), int(end)));
  define('array', 'flatten ravel', 'x', x => copy(flatten(x)));
  define('method', 'ravel', 'x', x => flatten(x));
  define('torch method', 'unflatten', 'x dim sizes', (x, dim, split) => {
    const at = dimension(int(dim), x), whole = ints(split), size = x.shape[at], rest = product(whole.filter(one => one !== -1));
    if (whole.includes(-1) ? size % rest : product(whole) !== size) fail(`unflatten: a dimension of ${size} cannot become ${shown(whole)}.`);
    const strides = [], inner = whole.map(one => one === -1 ? size / rest : one);
    inner.forEach((_, place) => strides.push(x.strides[at] * product(inner.slice(place + 1))));
    return x.view(x.shape.toSpliced(at, 1, ...inner), x.strides.toSpliced(at, 1, ...strides));
  });
  define('torch method', 'unsqueeze', 'x dim', (x, dim) => unsqueeze(x, int(dim)));
  define('np', 'expand_dims', 'x axis', (x, axis) => unsqueeze(x, int(axis)));
  define('torch method', 'squeeze', 'x dim?', (x, dim) => squeeze(x, dimsOf(dim)));
  define('np array', 'squeeze', 'x axis?', (x, axis) => squeeze(x, dimsOf(axis)));
  define('torch method', 'diagonal', 'x offset? dim1? dim2?', (x, far = 0n, one = 0n, other = 1n) => diagonal(x, int(far), int(one), int(other)));
  define('np array', 'diagonal', 'x offset? axis1? axis2?', known.torch.diagonal.apply);
  define('torch method', 'as_strided', 'x size stride storage_offset?', (x, size, stride, offset) => {
    const made = x.view(ints(size), ints(stride), offset === undefined ? x.offset : int(offset));
    return values(made).includes(undefined) ? fail('as_strided would read numbers that the tensor does not have.') : made;
  });
  const unfold = (x, dim, size, step) => {  // pieces of a dimension, which may overlap
    const at = dimension(dim, x), number = Math.floor((x.shape[at] - size) / step) + 1;
    if (!(number > 0)) fail(`A dimension of ${x.shape[at]} has no piece of ${size}.`);
    return x.view([...x.shape.with(at, number), size], [...x.strides.with(at, x.strides[at] * step), x.strides[at]]);
  };
  define('method', 'unfold', 'x dimension size step', (x, dim, size, step) => unfold(x, int(dim), int(size), int(step)));
  define('np', 'sliding_window_view', 'x window_shape axis?', (x, size, axis = 0n) => unfold(x, int(axis), int(size), 1));
  for (const [places, far] of [['torch method', 'diagonal?'], ['np', 'k?']]) define(places, 'diag', `x ${far}`, (x, far = 0n) => {
    if (x.shape.length > 1) return diagonal(x, int(far), 0, 1);
    const size = x.shape[0] + Math.abs(int(far)), made = filled([size, size], 0, x);
    write(diagonal(made, int(far), 0, 1), x);
    return made;
  });
  const at = (x, dim, index) => tuple(x.shape.map((_, place) => place === dimension(int(dim), x) ? index : {slice: [null, null, null]}));
  define('torch method', 'index_select', 'x dim index', (x, dim, index) => part(x, at(x, dim, index)));
  define('torch method', 'index_fill', 'x dim index value', (x, dim, index, value) => {
    const made = copy(x);
    setPart(made, at(x, dim, index), tensorOf(value));
    return made;
  });
  define('torch method', 'gather', 'x dim index', (x, dim, index) => part(x, tuple(x.shape.map((_, place) => place === dimension(int(dim), x) ? index
    : make(countFrom(index.shape[place]), index.shape.map((size, other) => other === place ? size : 1), {dtype: 'int'})))));
  define('torch method', 'take_along_dim', 'x indices dim', (x, index, dim) => {
    const at = dimension(int(dim), x), sizes = one => one.shape.map((size, place) => place === at ? size : Math.max(x.shape[place], index.shape[place]));
    return known.torch.gather.apply(expand(x, sizes(x)), dim, expand(index, sizes(index)));
  });
  define('torch method', 'roll', 'x shifts dims?', (x, shifts, dims) => {
    if (dims === undefined) return reshape(known.torch.roll.apply(flatten(x), shifts, 0n), x.shape);
    const far = [ints(shifts)].flat();
    return [ints(dims)].flat().reduce((one, dim, at) => along(one, dim, list => list.map((_, place) => list.at((place - far[at]) % list.length))), x);
  });
  define('method', 'expand', 'x ...shape', (x, shape) => expand(x, sizes(shape)));
  define('method', 'expand_as', 'x other', (x, other) => expand(x, other.shape));
  define('method', 'view_as reshape_as', 'x other', (x, other) => reshape(x, other.shape));
  define('np', 'broadcast_to', 'x shape', (x, shape) => expand(x, sizes([shape])));
  define('method', 'repeat', 'x ...sizes', (x, times) => sizes(times).reduce((one, time, at) => joined(countFrom(time).map(() => one), at), Array.from({length: Math.max(0, sizes(times).length - x.shape.length)}).reduce(one => unsqueeze(one, 0), x)));
  define('torch method', 'repeat_interleave', 'x repeats dim?', (x, times, dim) => along(dim === undefined ? flatten(x) : x, dim === undefined ? 0 : int(dim), list => list.flatMap(number => countFrom(int(times)).map(() => number))));
  define('torch method', 'unbind', 'x dim?', (x, dim = 0n) => {
    const at = dimension(int(dim), x);
    return tuple(countFrom(x.shape[at]).map(place => x.view(x.shape.toSpliced(at, 1), x.strides.toSpliced(at, 1), x.offset + place * x.strides[at])));
  });
  define('torch method', 'chunk', 'x chunks dim?', (x, chunks, dim = 0n) => tuple(pieces(x, int(dim), inChunks(x.shape[dimension(int(dim), x)], Math.ceil(x.shape[dimension(int(dim), x)] / int(chunks))))));
  const inChunks = (size, most) => countFrom(Math.ceil(size / most)).map(at => Math.min(most, size - at * most));
  define('torch method', 'split', 'x split_size dim?', (x, size, dim = 0n) => tuple(pieces(x, int(dim), Array.isArray(size) ? ints(size) : inChunks(x.shape[dimension(int(dim), x)], int(size)))));
  define('np', 'split', 'x indices_or_sections axis?', (x, count, axis = 0n) => x.shape[dimension(int(axis), x)] % int(count) ? fail('np.split needs equal parts.') : [...pieces(x, int(axis), countFrom(int(count)).map(() => x.shape[dimension(int(axis), x)] / int(count)))]);
  const listed = (list, numpy) => Array.from(items(list), one => isTensor(one) ? one : numpy ? tensorOf(one, true) : fail(`Tensors are joined here, not ${kindOf(one)}.`));
  define('torch', 'cat concat', 'tensors dim?', (list, dim = 0n) => joined(listed(list), int(dim)));
  define('np', 'concatenate', 'arrays axis?', (list, axis = 0n) => joined(listed(list, true), int(axis)));
  for (const [place, dim] of [['torch', 'dim?'], ['np', 'axis?']])
    define(place, 'stack', `tensors ${dim}`, (list, at = 0n) => joined(listed(list, place === 'np').map(one => unsqueeze(one, int(at))), int(at)));
  define('torch np', 'vstack', 'tensors', list => joined([...items(list)].map(one => one.shape.length < 2 ? unsqueeze(one, 0) : one), 0));
  define('torch np', 'hstack', 'tensors', list => joined([...items(list)], items(list)[0].shape.length < 2 ? 0 : 1));
  define('method', 'size', 'x dim?', (x, dim) => dim === undefined ? shapeOf(x) : BigInt(x.shape[dimension(int(dim), x)]));
  define('torch method', 'numel', 'x', x => BigInt(product(x.shape)));
  define('method', 'dim', 'x', x => BigInt(x.shape.length));
  define('np', 'shape', 'x', shapeOf);

  // Copies, and other kinds of number.
  define('torch method', 'clone', 'x', copy);
  define('method', 'contiguous detach cpu', 'x', x => String(x.strides) === String(make([], x.shape).strides) ? x : copy(x));
  define('array', 'copy', 'x', copy);
  for (const [names, dtype] of [['float double', 'float'], ['bool', 'bool'], ['long int', 'int']]) define('method', names, 'x', x => dtype === x.dtype ? x : typed(x, dtype));
  define('method', 'to type', 'x other', (x, other) => typeof other === 'string' && other !== 'cpu' ? fail('This page computes on the CPU only.')
    : other?.dtype ? typed(x, other.dtype) : x);
  define('method', 'type_as', 'x other', (x, other) => typed(x, other.dtype));
  define('array', 'astype', 'x dtype', (x, dtype) => typed(x, dtypeOf(dtype)));
  define('method array', 'item', 'x', item);
  define('method array', 'tolist', 'x', function list(x) { return x.shape.length ? parts(x).map(list) : item(x); });
  define('method', 'numpy', 'x', x => new Tensor(x.data, x.shape, {...x, numpy: true}));
  define('torch', 'from_numpy as_tensor', 'array', x => isTensor(x) ? new Tensor(x.data, x.shape, {...x, numpy: false}) : tensorOf(x));
  define('torch', 'tensor', 'data dtype?', (data, dtype) => isTensor(data) ? make(values(data), data.shape, {dtype: dtypeOf(dtype) ?? data.dtype}) : tensorOf(data, false, dtypeOf(dtype)));
  define('np', 'array asarray', 'data dtype?', (data, dtype) => isTensor(data) ? copy(typed(data, dtypeOf(dtype) ?? data.dtype)) : tensorOf(data, true, dtypeOf(dtype)));
  const spaced = (start, end, steps) => countFrom(int(steps)).map(at => float(start) + at * (float(end) - float(start)) / Math.max(1, int(steps) - 1));
  for (const [place, numpy] of [['torch', false], ['np', true]]) {
    for (const [name, number] of [['zeros', 0], ['ones', 1], ['empty', NaN]]) {
      if (numpy) define(place, name, 'shape dtype?', (shape, dtype) => filled(sizes([shape]), number, {dtype: dtypeOf(dtype), numpy}));
      else define(place, name, '...size * dtype?', (shape, _, dtype) => filled(sizes(shape), number, {dtype: dtypeOf(dtype)}));
      define(place, `${name}_like`, 'x dtype?', (x, dtype) => filled(x.shape, number, {dtype: dtypeOf(dtype) ?? x.dtype, numpy}));
      if (!numpy) define('method', `new_${name}`, 'x ...size', (x, shape) => filled(sizes(shape), number, x));
    }
    define(place, 'full', 'shape fill dtype?', (shape, fill, dtype) => typed(copy(expand(tensorOf(fill, numpy), sizes([shape]))), dtypeOf(dtype) ?? tensorOf(fill).dtype));
    define(place, 'full_like', 'x fill dtype?', (x, fill, dtype) => typed(copy(expand(tensorOf(fill, numpy), x.shape)), dtypeOf(dtype) ?? x.dtype));
    define(place, 'arange', 'start end? step? dtype?', (start, end, step = 1n, dtype) => {
      const [from, to] = end === undefined ? [0n, start] : [start, end], by = float(step), count = Math.ceil((float(to) - float(from)) / by);
      const kind = [from, to, step].some(value => typeof value === 'number') ? 'float' : 'int';
      return make(countFrom(filled([Math.max(0, count)], 0).shape[0]).map(at => float(from) + at * by), [Math.max(0, count)], {dtype: dtypeOf(dtype) ?? kind, numpy});
    });
    const three = numpy ? 'start stop num' : 'start end steps', one = numbers => make(numbers, [numbers.length], {numpy});
    define(place, 'linspace', `${three} * dtype?`, (...range) => one(spaced(...range)));
    define(place, 'logspace', `${three} base? * dtype?`, (start, end, steps, base = 10) => one(spaced(start, end, steps).map(power => float(base) ** power)));
    define(place, 'eye', 'n m? dtype?', (n, m = n, dtype) => triangle(filled([int(n), int(m)], 1, {dtype: dtypeOf(dtype), numpy}), far => far === 0));
    for (const [name, keeps] of [['tril', (far, k) => far <= k], ['triu', (far, k) => far >= k]])
      define(numpy ? place : 'torch method', name, numpy ? 'x k?' : 'x diagonal?', (x, k = 0n) => triangle(x, far => keeps(far, int(k))));
    const where = (condition, one, other) => {
      const a = tensorOf(one, numpy), b = tensorOf(other, numpy);
      return each((chosen, yes, no) => chosen ? yes : no, [tensorOf(condition, numpy), a, b], widest(a.dtype, b.dtype));
    };
    define(place, 'where', 'condition x other', (condition, one, other) => isTensor(condition) && !numpy && condition.dtype !== 'bool' ? fail('torch.where needs a condition of booleans.') : where(condition, one, other));
    define(place, 'einsum', '...all', ([rule, ...list]) => {
      const all = Array.isArray(list[0]) ? list[0] : list;
      if (typeof rule !== 'string' || !all.every(isTensor)) fail('einsum takes a rule as a text, and then tensors.');
      return einsum(rule, all);
    });
    define(place, 'kron', 'x other', (x, other) => reshape(einsum('ij,kl->ikjl', [x, other]), x.shape.map((size, dim) => size * other.shape[dim])));
    define(place, 'outer', 'x other', (x, other) => operate('*', unsqueeze(flatten(x), 1), flatten(other)));
  }
  define('np', 'ndindex', '...shape', shape => sizes(shape).reduce((all, size) => all.flatMap(index => countFrom(size).map(at => tuple([...index, BigInt(at)]))), [tuple([])]));
  define('np', 'apply_along_axis', 'change axis x', (change, axis, x) => along(x, int(axis), list => {
    const made = tensorOf(change([make(list, [list.length], {numpy: true})], {}), true);
    return values(made);
  }, 'float'));
  const mustBeClose = (name, x, wanted, relative, absolute) => {
    const far = values(each((one, other) => !(one === other || Math.abs(one - other) <= absolute + relative * Math.abs(other) || Number.isNaN(one) && Number.isNaN(other)), [x, like(wanted, x)], 'bool'));
    return far.some(Boolean) ? fail(`${name}: ${far.filter(Boolean).length} of ${far.length} numbers differ.`) : null;
  };
  define('np', 'assert_allclose', 'x desired rtol? atol?', (x, wanted, relative = 1e-7, absolute = 0) => mustBeClose('assert_allclose', x, wanted, float(relative), float(absolute)));
  define('torch', 'assert_close', 'x expected * rtol? atol?', (x, wanted, _, relative = 1e-6, absolute = 1e-5) => mustBeClose('assert_close', x, wanted, float(relative), float(absolute)));
  define('np', 'errstate', '* all? divide? over? under? invalid?', () => null);
  define('torch', 'no_grad', '*', () => null);
  define('torch', 'set_num_threads', 'number', () => null);
  define('torch', 'get_num_threads', '*', () => 1n);
  define('np', 'inner', 'x other', (x, other) => operate('@', x, other.shape.length > 1 ? swap(other, -1, -2) : other));
  define('np', 'tri', 'n m? k? dtype?', (n, m, k = 0n, dtype) => triangle(filled([int(n), int(m ?? n)], 1, {dtype: dtypeOf(dtype), numpy: true}), far => far <= int(k)));
  define('method', 'where', 'x condition other', (x, condition, other) => each((chosen, yes, no) => chosen ? yes : no, [condition, x, like(other, x)], widest(x.dtype, like(other, x).dtype)));
  define('torch method', 'masked_fill', 'x mask value', (x, mask, value) => {
    if (!isTensor(mask) || mask.dtype !== 'bool') fail('masked_fill needs a mask of booleans.');
    return each((hidden, number) => hidden ? float(value) : number, [mask, x], x.dtype);
  });
  define('method', 'masked_fill_', 'x mask value', (x, mask, value) => (write(x, known.method.masked_fill.apply(x, mask, value)), x));
  define('torch', 'cdist', 'x other', (x, other) => each(Math.sqrt, [reduce(known.torch.square.apply(operate('-', unsqueeze(x, -2), unsqueeze(other, -3))), -1, false, sum)]));
  define('torch', 'equal', 'x other', (x, other) => String(x.shape) === String(other.shape) && values(x).every((number, at) => number === values(other)[at]));

  // torch.nn.functional.
  define('F', 'linear', 'x weight bias?', (x, weight, bias) => {
    if (x.shape.at(-1) !== weight.shape.at(-1)) fail(`F.linear: vectors of ${x.shape.at(-1)} features do not fit a weight of shape ${shown(weight.shape)}, which is (out, in).`);
    const made = matmul(x, weight.shape.length > 1 ? swap(weight, 0, 1) : weight);
    return bias ? operate('+', made, bias) : made;
  });
  const lastOnes = (x, shape) => {
    const own = ints(Array.isArray(shape) ? shape : [shape]);
    if (String(own) !== String(x.shape.slice(-own.length))) fail(`The norm is over ${shown(own)}, but x has the shape ${shown(x.shape)}.`);
    return own.map((_, at) => at - own.length);
  };
  const scaled = (x, weight, bias) => [['*', weight], ['+', bias]].reduce((one, [sign, other]) => other ? operate(sign, one, other) : one, x);
  define('F', 'layer_norm', 'x normalized_shape weight? bias? eps?', (x, shape, weight, bias, eps = 1e-5) => {
    const dims = lastOnes(x, shape), centred = operate('-', x, reduce(x, dims, true, list => sum(list) / list.length));
    return scaled(operate('/', centred, reduce(x, dims, true, list => Math.sqrt(variance(list, 0) + float(eps)))), weight, bias);
  });
  define('F', 'rms_norm', 'x normalized_shape weight? eps?', (x, shape, weight, eps) =>
    scaled(operate('/', x, reduce(x, lastOnes(x, shape), true, list => Math.sqrt(sum(list.map(number => number * number)) / list.length + float(eps ?? Number.EPSILON)))), weight));
  define('F', 'dropout', 'x p? training?', (x, share = 0.5, training = true) => truth(training) && float(share) > 0 ? fail('This page drops nothing out: it draws no such masks.') : x);
  define('F', 'cosine_similarity', 'x other dim?', (x, other, dim = 1n) => {
    const dot = (one, two) => reduce(operate('*', one, two), int(dim), false, sum), size = one => each(number => Math.max(Math.sqrt(number), 1e-8), [dot(one, one)]);
    return operate('/', dot(x, other), operate('*', size(x), size(other)));
  });
  define('F', 'normalize', 'x p? dim? eps?', (x, p = 2, dim = 1n, eps = 1e-12) => operate('/', x, reduce(x, int(dim), true, list => Math.max(length(list, float(p)), float(eps)))));
  define('F', 'pad', 'x pad mode? value?', (x, pad, _, value = 0) => {
    let one = x;
    ints(pad).forEach((size, at) => {
      const dim = x.shape.length - 1 - (at >> 1);
      if (size < 0) one = part(one, tuple(countFrom(one.shape.length).map(place => ({slice: place !== dim ? [null, null, null] : at % 2 ? [null, size, null] : [-size, null, null]}))));
      const blank = filled(one.shape.with(dim, Math.max(0, size)), float(value), one);
      one = joined(at % 2 ? [one, blank] : [blank, one], dim);
    });
    return one;
  });
  define('F', 'one_hot', 'x num_classes?', (x, classes) => each((number, at) => number === at, [unsqueeze(x, -1), make(countFrom(classes === undefined ? most(values(x)) + 1 : int(classes)), [classes === undefined ? most(values(x)) + 1 : int(classes)])], 'int'));
  const ATTENTION = 'query key value attn_mask? dropout_p? is_causal? * scale? enable_gqa?';
  define('F', 'scaled_dot_product_attention', ATTENTION, (query, key, value, mask, _, causal, __, scale, shared) => {
    if (truth(shared)) [key, value] = [key, value].map(one => known.torch.repeat_interleave.apply(one, BigInt(query.shape.at(-3) / one.shape.at(-3)), -3n));
    let scores = operate('*', matmul(query, swap(key, -2, -1)), scale === undefined || scale === null ? query.shape.at(-1) ** -0.5 : float(scale));
    if (truth(causal)) mask = triangle(filled(scores.shape.slice(-2), 1, {dtype: 'bool'}), far => far <= 0);
    if (mask) scores = mask.dtype === 'bool' ? each((seen, score) => seen ? score : -Infinity, [mask, scores], 'float') : operate('+', scores, mask);
    return matmul(along(scores, -1, list => most(list) === -Infinity ? list.map(() => 0) : softmax(list)), value);
  });

  define('math', 'isqrt', 'number', number => BigInt(Math.floor(Math.sqrt(int(number)))));
  for (const name of ['floor', 'ceil']) define('math', name, 'number', number => BigInt(Math[name](float(number))));
  define('math', 'pow', 'number other', (a, b) => float(a) ** float(b));

  define('torch', 'block_diag', '...tensors', list => {
    if (!list.every(one => one.shape?.length === 2)) fail('block_diag takes its tensors one by one, each with two dimensions.');
    const made = filled([0, 1].map(dim => sum(list.map(one => one.shape[dim]))), 0, list[0]), place = [0, 0];
    for (const one of list) setPart(made, tuple([0, 1].map(dim => ({slice: [place[dim], place[dim] += one.shape[dim], null]}))), one);
    return made;
  });
  define('torch', 'matrix_exp', 'x', x => {  // a series for a small part of it, which is then squared
    const halvings = Math.max(0, Math.ceil(Math.log2(1e-9 + most(values(x).map(Math.abs))))) + 3, small = operate('/', x, 2 ** halvings);
    const one = operate('+', operate('*', x, 0), triangle(filled(x.shape.slice(-2), 1), far => far === 0));
    let [term, total] = [one, one];
    for (let n = 1; n < 16; n++) total = operate('+', total, term = operate('/', matmul(term, small), n));
    return countFrom(halvings).reduce(whole => matmul(whole, whole), total);
  });

  // The course's own functions.
  known.attention = {};
  known.masks = {};
  define('attention', 'split_heads', 'x num_heads', (x, heads) => swap(known.torch.unflatten.apply(x, -1n, [heads, -1n]), -3, -2));
  define('attention', 'merge_heads', 'x', x => flatten(swap(x, -3, -2), -2));
  define('masks', 'causal_mask', 'length', length => triangle(filled([int(length), int(length)], 1, {dtype: 'bool'}), far => far <= 0));
  define('attention', 'scaled_dot_product_attention', 'x key value mask?', (x, key, value, mask) => {
    const weights = known.masks.masked_softmax.apply(operate('/', matmul(x, swap(key, -2, -1)), Math.sqrt(x.shape.at(-1))), mask);
    return tuple([matmul(weights, value), weights]);
  });
  define('masks', 'masked_softmax', 'x mask?', (x, mask) => along(mask ? known.torch.where.apply(mask, x, -Infinity) : x, -1,
    list => most(list) === -Infinity ? list.map(() => 0) : softmax(list)));

  // --- modules and built-in functions ---

  define('F', 'mse_loss', 'x target', (x, target) => reduce(each((one, other) => (one - other) ** 2, [x, target]), undefined, false, list => sum(list) / list.length));
  define('F', 'cross_entropy', 'x target weight? * ignore_index? reduction?', (x, target, _, __, ignored = -100n, way = 'mean') => {
    const logits = x.shape.length > 2 ? flatten(permute(x, [0, ...countFrom(x.shape.length).slice(2), 1]), 0, -2) : x.shape.length < 2 ? unsqueeze(x, 0) : x;
    if (target.dtype === 'float') fail('cross_entropy takes whole numbers as targets on this page.');
    const wanted = values(target), rows = wanted.map((one, at) => one === int(ignored) ? 0 : logSum(values(part(logits, at))) - values(part(logits, at))[one]);
    if (way === 'none') return make(rows, target.shape);
    return make([sum(rows) / (way === 'sum' ? 1 : wanted.filter(one => one !== int(ignored)).length)], []);
  });
  define('torch', 'is_autocast_enabled', 'kind?', () => false);
  define('torch', 'atleast_2d', 'x', x => x.shape.length > 1 ? x : x.shape.length ? unsqueeze(x, 0) : reshape(x, [1, 1]));
  define('torch', 'promote_types', 'one other', one => one);
  define('torch', 'inference_mode', '*', () => null);
  for (const [name, change] of Object.entries({copy_: (x, other) => write(x, expand(tensorOf(other), x.shape)), fill_: (x, number) => write(x, filled(x.shape, float(number))), zero_: x => write(x, filled(x.shape, 0))}))
    define('method', name, 'x other?', (x, other) => (change(x, other), x));
  const asFunction = entry => Object.assign((args, keywords) => call(entry, args, keywords), {title: PREFIX[entry.place] + entry.name});
  const dtypes = {};
  for (const [names, dtype] of [['float64 float32 double float', 'float'], ['int64 int32 long int', 'int'], ['bool bool_', 'bool']]) for (const name of names.split(' ')) dtypes[name] = {dtype, wide: name === 'float64' || name === 'double'};
  const constants = {inf: Infinity, nan: NaN, pi: Math.PI, e: Math.E};
  const modules = {torch: {title: 'torch', known: known.torch, ...dtypes, ...constants}, np: {title: 'np', known: known.np, ...dtypes, ...constants, newaxis: null}, F: {title: 'F', known: known.F}, math: {title: 'math', known: known.math, ...constants}};
  modules.np.linalg = {title: 'np.linalg', known: {norm: {name: 'linalg.norm', place: 'np', signature: ['x', 'ord?', 'axis?', 'keepdims?'], apply: (x, p, axis, keep) => reduce(x, dimsOf(axis), truth(keep), list => length(list, p === undefined || p === null ? 2 : float(p)))}}};
  for (const [title, name] of [['np', 'assert_allclose'], ['torch', 'assert_close']]) modules[title].testing = {title: `${title}.testing`, known: {[name]: known[title][name]}};
  modules.np.lib = {title: 'np.lib', known: {}, stride_tricks: {title: 'np.lib.stride_tricks', known: {sliding_window_view: known.np.sliding_window_view}}};
  modules.torch.linalg = {title: 'torch.linalg', known: {norm: {name: 'linalg.norm', place: 'torch', signature: ['x', 'ord?', 'dim?', 'keepdim?'], apply: known.torch.norm.apply}, vector_norm: {...known.torch.norm, name: 'linalg.vector_norm'}}};
  for (const name of ['float64', 'float32', 'int64']) modules.np[name] = Object.assign(([value]) => typed(tensorOf(value, true), dtypes[name].dtype), dtypes[name]);
  const limits = {title: 'finfo', known: {}, max: Number.MAX_VALUE, min: -Number.MAX_VALUE, eps: Number.EPSILON, tiny: 2 ** -1022};
  modules.torch.finfo = modules.np.finfo = () => limits;
  const course = Object.fromEntries(['attention', 'masks'].map(title => [title, {title, known: known[title]}]));
  modules.nn = {title: 'nn', known: {}, functional: modules.F};
  for (const [name, wanted] of [['Softmax', 'softmax'], ['SiLU', 'silu'], ['ReLU', 'relu'], ['Sigmoid', 'sigmoid'], ['GELU', 'gelu']])
    modules.nn[name] = (given, {dim} = {}) => ([x]) => call(known.F[wanted], name === 'Softmax' ? [x, dim ?? given[0]] : [x], {});
  modules.torch.nn = modules.nn;
  modules.torch.special = {title: 'torch.special', known: {softmax: known.torch.softmax, logsumexp: known.torch.logsumexp}};
  const reduceLogs = (args, {axis = 0n, keepdims = false}) => reduce(tensorOf(args[0], true), int(args[1] ?? axis), keepdims, logSum);

  // The nearest of the names, for a sentence about one that is not there.
  function distance(one, other) {
    let row = countFrom(other.length + 1);
    [...one].forEach((letter, at) => {
      row = row.reduce((made, above, place) => [...made, place ? Math.min(above + 1, made[place - 1] + 1, row[place - 1] + (letter !== other[place - 1])) : at + 1], []);
    });
    return row.at(-1);
  }
  function nearest(name, names) {
    const letters = text => [...text].sort().join('');
    const near = names.map(one => [letters(one) === letters(name) ? 1 : distance(name, one), one]).filter(([far, one]) => far <= Math.max(1, one.length / 3)).sort(([a], [b]) => a - b);
    return near.length ? ` Did you mean ${near[0][1]}?` : '';
  }

  const NO_GRADIENT = ['no_grad', 'detach', 'item', 'tolist', 'numpy', 'data', 'from_numpy'];
  let strict = false, asked = '';  // must gradients flow through the answer, and which exercise is it?
  function attribute(value, name) {
    if (strict && NO_GRADIENT.includes(name)) fail(`“${name}” would cut the gradients off, and this exercise asks for them.`);
    if (value?.own && Object.hasOwn(value.own, name)) return (args, keywords) => call(value.own[name], [value, ...args], keywords);
    if (value?.draws) return () => null;  // nothing is drawn here
    if (value?.known) {
      if (name === asked && course[value.title] === value) fail(`${name} is what you are to write.`);
      if (Object.hasOwn(value.known, name)) return value.title === 'np' && name === 'logaddexp' ? Object.assign(asFunction(value.known[name]), {reduce: reduceLogs}) : asFunction(value.known[name]);
      if (name !== 'title' && name !== 'known' && Object.hasOwn(value, name)) return value[name];
      if (value.onlyTypes) return {title: name, known: {}};
      if (value.stranger) fail(`This page does not know ${value.title}:${value.stranger}`);
      return fail(`This page knows no ${value.title}.${name}.${nearest(name, Object.keys(value.known))}`);
    }
    if (value instanceof Instance || value?.above || value?.members) {
      const found = kinds.attribute(value, name);
      return found !== undefined ? found : fail(`${value.above ? 'What is above this class' : value.members ? value.title : kindOf(value).replace(/^a/, 'A')} has no “${name}” that this page knows.${nearest(name, value.fields ? [...value.fields.keys(), ...value.kind.members.keys()] : [])}`);
    }
    if (isTensor(value)) {
      if (name === 'shape') return shapeOf(value);
      if (name === 'T') return turned(value);
      if (name === 'real' || name === 'imag') return realPart(value, name.slice(0, 2));
      if (name === 'mT') return swap(value, -2, -1);
      if (name === 'ndim') return BigInt(value.shape.length);
      if (name === 'dtype') return {dtype: value.dtype};
      if (name === 'size' && value.numpy) return BigInt(product(value.shape));
      if (name === 'device' || name === 'requires_grad') return name === 'device' ? 'cpu' : strict || Boolean(value.parameter);
      if (name === 'data') return value;
      if (name === 'is_cpu') return true;
      const methods = known[value.numpy ? 'array' : 'method'], method = Object.hasOwn(methods, name) && methods[name];
      if (method) return Object.assign((args, keywords) => call(method, [value, ...args], keywords), {title: `.${name}`});
      const beside = known[value.numpy ? 'np' : 'torch'][name];
      return fail(`This page knows no method “${name}” of ${kindOf(value)}.${beside ? ` There is ${PREFIX[beside.place]}${name}(…).` : nearest(name, Object.keys(methods))}`);
    }
    if (Array.isArray(value) && value.fields?.includes(name)) return value[value.fields.indexOf(name)];
    if (isNumber(value) && (name === 'real' || name === 'imag')) return partOf(value, name.slice(0, 2));
    const own = containers.method(value, name);
    if (own) return (args, named) => own(value, args, named, items, builtins.sorted, same) ?? null;
    if (Array.isArray(value) && name === 'numel') return () => value.reduce((all, size) => all * size, 1n);
    if (typeof value === 'function' && name === 'reduce' && value.reduce) return value.reduce;
    if (typeof value === 'function' && name === '__name__') return value.title ?? Object.keys(builtins).find(one => builtins[one] === value) ?? fail('This function has no name here.');
    if (typeof value === 'function' && Object.hasOwn(value.statics ?? {}, name)) return value.statics[name];
    const type = typeof value === 'function' && ['str', 'bytes', 'list', 'dict', 'set'].find(type => builtins[type] === value), ofType = type && containers.ofType(type === 'str' ? 'text' : type, name);
    if (ofType) return ([one, ...args], named) => ofType(one, args, named, items, builtins.sorted, same) ?? null;
    return fail(`${kindOf(value)} has no “${name}” that this page knows.${nearest(name, containers.names(value))}`.replace(/^a/, 'A'));
  }

  function setAttribute(value, name, source) {
    if (value instanceof Instance || value?.members) return kinds.setAttribute(value, name, source);
    if (isTensor(value) && name === 'data') return void write(value, source);
    return isTensor(value) && name === 'requires_grad' ? undefined : fail(`${kindOf(value)} gets no attribute here.`.replace(/^a/, 'A'));
  }
  function deleteItem(value, index) {
    if (value instanceof Dict) return value.has(index) ? value.delete(index) : fail(`${repr(index)} is not a key of this dictionary.`);
    if (!Array.isArray(value) || value instanceof Tuple) return fail(`From ${kindOf(value)} nothing can be deleted.`);
    getItem(value, index);  // is it there?
    const [start, count] = isSlice(index) ? spanOf(index.slice.map(bound => bound === null ? null : int(bound)), value.length) : [int(index), 1];
    value.splice(start, count);
  }
  function contains(value, one) {
    if (typeof value === 'string' && typeof one === 'string') return value.includes(one);
    if (value instanceof Bytes) return value.text.includes(one instanceof Bytes ? one.text : String.fromCharCode(int(one)));
    if (value instanceof Dict || value instanceof Group) return value.has(one);
    if (value instanceof Instance && value.kind.find('__contains__')) return truth(special(value, '__contains__', one));
    for (const item of items(value)) if (truth(operate('==', item, one))) return true;
    return false;
  }
  const iterator = steps => ({title: 'generator', steps, [Symbol.iterator]: () => ({next: () => steps.next()})});  // a loop that ends early leaves the rest
  const isOf = (value, type) => type?.members ? value instanceof Instance && value.kind.is(type) : Array.isArray(type) ? type.some(one => isOf(value, one))
    : type === builtins.list ? Array.isArray(value) && !(value instanceof Tuple) : type === builtins.tuple ? value instanceof Tuple : type === builtins.dict ? value instanceof Dict
    : type === builtins.set ? value instanceof Group : type === builtins.bytes ? value instanceof Bytes : type?.title === 'torch.Tensor' ? isTensor(value) && !value.numpy : type?.title === 'np.ndarray' ? isTensor(value) && value.numpy
    : ({int: ['bigint', 'boolean'], bool: ['boolean'], float: ['number'], str: ['string']})[type?.dtype ?? type?.title]?.includes(typeof value) ?? false;
  function* range(start, stop, step) {
    for (let at = start; step > 0n ? at < stop : at > stop; at += step) yield at;
  }
  const smaller = (one, other) => truth(operate('<', one, other));
  const best = better => (args, {key, default: none}) => {
    const all = [...items(args.length > 1 ? args : args[0])], value = one => key ? key([one], {}) : one;
    if (!all.length && none === undefined) fail('There is nothing to choose from.');
    return all.length ? all.reduce((one, other) => better(value(other), value(one)) ? other : one) : none;
  };
  const builtins = {
    len: ([value]) => isTensor(value) ? value.shape.length ? BigInt(value.shape[0]) : fail('A single number has no length.') : Array.isArray(value) ? BigInt(value.length) : typeof value === 'string' || value instanceof Dict || value instanceof Group || value?.range ? BigInt([...value].length)
      : value instanceof Bytes ? BigInt(value.text.length) : value instanceof Instance && value.kind.find('__len__') ? special(value, '__len__') : fail(`len needs a list or a tensor, not ${kindOf(value)}.`),
    range: args => {
      const [start, stop, step = 1n] = (args.length > 1 ? args : [0n, ...args]).map(value => BigInt(int(value)));
      return {range: `range(${start}, ${stop}${step === 1n ? '' : `, ${step}`})`, [Symbol.iterator]: () => range(start, stop, step || fail('The step of a range cannot be 0.'))};
    },
    sum: ([list, start = 0n]) => [...items(list)].reduce((all, value) => operate('+', all, value), start),
    max: best((one, other) => smaller(other, one)), min: best(smaller),
    sorted: ([list], {key, reverse = false} = {}) => {
      const all = [...items(list)].map(one => [key ? key([one], {}) : one, one]), sign = truth(reverse) ? -1 : 1;
      return all.sort(([one], [other]) => smaller(one, other) ? -sign : smaller(other, one) ? sign : 0).map(([, one]) => one);
    },
    any: ([list]) => [...items(list)].some(truth), all: ([list]) => [...items(list)].every(truth),
    map: ([change, ...lists]) => builtins.zip(lists, {}).map(one => change([...one], {})), filter: ([keeps, list]) => [...items(list)].filter(one => truth(keeps === null ? one : keeps([one], {}))),
    dict: Object.assign(([given = []], named) => new Dict([...given instanceof Dict ? given.entries() : Array.from(items(given), pair => [...items(pair)]), ...Object.entries(named)]),
      {statics: {fromkeys: ([keys, value = null]) => new Dict(Array.from(items(keys), key => [key, value]))}}),
    str: Object.assign(([value = '']) => str(value), {title: 'str'}), repr: ([value]) => repr(value), format: ([value, spec = '']) => format(value, spec),
    isinstance: ([value, type]) => isOf(value, type),
    type: ([value]) => {
      if (value instanceof Instance) return value.kind;
      const name = value === null ? 'NoneType' : isTensor(value) ? (value.numpy ? 'ndarray' : 'Tensor') : value instanceof Tuple ? 'tuple' : Array.isArray(value) ? 'list' : value instanceof Counter ? 'Counter'
        : value instanceof Dict ? 'dict' : value instanceof Group ? 'set' : value instanceof Bytes ? 'bytes' : ({bigint: 'int', number: 'float', boolean: 'bool', string: 'str'})[typeof value] ?? fail('This page does not know the type of this.');
      return builtins[name] ?? {title: name, known: {}, __name__: name};
    },
    hasattr: ([value, name]) => { try { return attribute(value, name) !== undefined; } catch { return false; } },
    getattr: ([value, name, ...other]) => { try { return attribute(value, name); } catch (error) { if (other.length) return other[0]; throw error; } },
    setattr: ([value, name, source]) => setAttribute(value, name, source),
    callable: ([value]) => typeof value === 'function' || value instanceof Instance && Boolean(value.kind.find('__call__')),
    iter: ([value]) => value?.steps ? value : iterator((function* () { yield* items(value); })()),
    next: ([value, ...other]) => {
      const {done, value: found} = value?.steps ? value.steps.next() : fail(`next needs an iterator, and this is ${kindOf(value)}.`);
      return !done ? found : other.length ? other[0] : fail('The iterator has come to its end.');
    },
    set: Object.assign(([value = []]) => new Group(items(value)), {title: "<class 'set'>"}),
    bytes: ([value = []]) => typeof value === 'bigint' ? new Bytes('\0'.repeat(Number(value))) : value instanceof Bytes ? value : new Bytes(Array.from(items(value), one => int(one) >= 0 && int(one) < 256 ? String.fromCharCode(int(one)) : fail('A byte is from 0 to 255.')).join('')),
    property: ([get]) => ({property: get}), classmethod: ([method]) => ({ofKind: method}), staticmethod: ([method]) => ({plain: method}),
    ...kinds.errors,
    ord: ([text]) => BigInt(text.codePointAt(0)), chr: ([number]) => String.fromCodePoint(int(number)),
    abs: ([value]) => isTensor(value) ? known.torch.abs.apply(value) : smaller(value, 0n) ? unary('-', value) : unary('+', value),
    float: Object.assign(([value = 0n]) => strict && isTensor(value) ? fail('float() of a tensor would cut the gradients off, and this exercise asks for them.') : float(value), {dtype: 'float'}),
    int: Object.assign(([value = 0n]) => BigInt(Math.trunc(float(value))), {dtype: 'int'}),
    bool: Object.assign(([value = false]) => truth(value), {dtype: 'bool'}),
    round: ([value, decimals = 0n]) => decimals > 0n ? Number(fixed(float(value), int(decimals))) : decimals ? rounded(float(value) * 10 ** int(decimals)) / 10 ** int(decimals) : BigInt(rounded(float(value))),
    list: ([value = []]) => [...items(value)], tuple: ([value = []]) => tuple([...items(value)]),
    zip: (args, {strict: equal = false}) => {
      const lists = args.map(value => [...items(value)]), lengths = lists.map(list => list.length);
      if (equal && new Set(lengths).size > 1) fail(`zip: the lengths ${lengths.join(' and ')} differ.`);
      return countFrom(lists.length ? Math.min(...lengths) : 0).map(at => tuple(lists.map(list => list[at])));
    },
    slice: args => ({slice: args.length > 1 ? [...args, null].slice(0, 3) : [null, ...args, null]}),
    divmod: ([one, other]) => tuple([operate('//', one, other), operate('%', one, other)]),
    enumerate: ([value, start = 0n]) => [...items(value)].map((one, at) => tuple([BigInt(at) + start, one])),
    reversed: ([value]) => [...items(value)].reverse(),
    pow: ([one, other]) => operate('**', one, other),
  };

  const isSlice = item => Array.isArray(item?.slice);
  function getItem(value, index) {
    if (isTensor(value)) return part(value, indexOf(index, value));
    if (value instanceof Dict) return value.has(index) ? value.get(index) : value.missing ? value.missing(index) : fail(`${repr(index)} is not a key of this dictionary.`);
    if (typeof value === 'string') {
      const found = getItem([...value], index);
      return Array.isArray(found) ? found.join('') : found;
    }
    if (value?.range) return getItem([...value], index);
    if (value instanceof Bytes) {
      const found = getItem([...value.text], index);
      return Array.isArray(found) ? new Bytes(found.join('')) : BigInt(found.charCodeAt());
    }
    if (value instanceof Instance && value.kind.find('__getitem__')) return special(value, '__getitem__', index);
    if (value?.groups) return value.groups[typeof index === 'string' ? index : int(index)] ?? null;  // what a pattern has found
    if (!Array.isArray(value)) return fail(`${kindOf(value)} has no items to index.`.replace(/^a/, 'A'));
    if (isSlice(index)) {
      const [start, count, step] = spanOf(index.slice.map(bound => bound === null ? null : int(bound)), value.length);
      return value.constructor.from(countFrom(count).map(at => value[start + at * step]));
    }
    const at = int(index), place = at < 0 ? at + value.length : at;
    return place in value ? value[place] : fail(`Index ${at} is out of range: there are ${value.length} items.`);
  }
  function indexOf(index, tensor) {
    const one = item => item === null || item === Ellipsis ? item : isSlice(item) ? {slice: item.slice.map(bound => bound === null ? null : int(bound))}
      : typeof item === 'bigint' ? Number(item) : isTensor(item) && !item.shape.length && item.dtype !== 'float' && item.dtype !== 'bool' ? values(item)[0]
        : isTensor(item) || Array.isArray(item) ? tensorOf(item, tensor.numpy, item.length === 0 ? 'int' : undefined)
          : fail(`${kindOf(item)} cannot be an index.`.replace(/^a/, 'A'));
    return index instanceof Tuple ? Tuple.from(Array.from(index, one)) : one(index);
  }
  function setItem(value, index, source) {
    if (isTensor(value)) return setPart(value, indexOf(index, value), tensorOf(source, value.numpy));
    if (value instanceof Dict) return value.set(index, source);
    if (value instanceof Instance && value.kind.find('__setitem__')) return special(value, '__setitem__', index, source);
    if (isSlice(index) && Array.isArray(value) && !(value instanceof Tuple)) {
      const [start, count, step] = spanOf(index.slice.map(bound => bound === null ? null : int(bound)), value.length);
      return step === 1 ? void value.splice(start, count, ...items(source)) : fail('This page sets no slice with a step.');
    }
    if (!Array.isArray(value) || value instanceof Tuple) return fail(`${kindOf(value)} cannot be changed.`.replace(/^a/, 'A'));
    const at = int(index), place = at < 0 ? at + value.length : at;
    return place in value ? void (value[place] = source) : fail(`Index ${at} is out of range: there are ${value.length} items.`);
  }
  const ask = (gradients, exercise) => { [strict, asked] = [gradients, exercise]; };
  const cmath = {title: 'cmath', known: known.cmath, pi: Math.PI};
  return {modules, course, cmath, builtins, known, define, whole: ints, number: float, array: value => tensorOf(value, true), operate, unary, inPlace, truth, attribute, setAttribute, items, getItem, setItem, deleteItem, contains, iterator, isOf, same, standard: {}, repr, str, format, kindOf, nearest, ask, Fault};
})();
