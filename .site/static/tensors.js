// Small tensors and arrays, as PyTorch and NumPy have them, in float64: what the code typed on a page computes with.
globalThis.tensors = (() => {
  class Fault extends Error {}  // told to whoever typed the code
  class Tuple extends Array {}  // a list is an Array
  class Complex { constructor(re, im = 0) { Object.assign(this, {re, im}); } }
  const fail = message => { throw new Fault(message); };
  class Bytes { constructor(text = '') { this.text = text; } }  // a sign for each
  class Instance { constructor(kind) { Object.assign(this, {kind, fields: new Map()}); } }  // of what `class` makes
  class Dict {  // of texts, numbers, tuples, and None: 1, 1.0 and True are the same key
    constructor(pairs = []) {
      this.all = new Map();
      for (const [key, value] of pairs) this.set(key, value);
    }
    static key(value) {
      if (typeof value === 'string') return `'${value}`;
      if (value instanceof Bytes) return `b'${value.text}`;
      if (value instanceof Tuple) return `(${Array.from(value, Dict.key).join(',')})`;
      if (Array.isArray(value) || value instanceof Dict || value instanceof Group) fail('A list, a dictionary or a set cannot be a key.');
      return ['bigint', 'number', 'boolean'].includes(typeof value) ? Number(value) : value;
    }
    has(key) { return this.all.has(Dict.key(key)); }
    get(key) { return this.all.get(Dict.key(key))?.[1]; }
    set(key, value) { this.all.set(Dict.key(key), [this.has(key) ? this.all.get(Dict.key(key))[0] : key, value]); }
    delete(key) { this.all.delete(Dict.key(key)); }
    entries() { return [...this.all.values()]; }
    keys() { return this.entries().map(([key]) => key); }
    values() { return this.entries().map(([, value]) => value); }
    [Symbol.iterator]() { return this.keys()[Symbol.iterator](); }
  }
  class Counter extends Dict {
    missing() { return 0n; }
    mostCommon() { return this.entries().sort(([, one], [, other]) => Number(other) - Number(one)); }
  }
  class DefaultDict extends Dict {
    constructor(pairs, make) { Object.assign(super(pairs), {make}); }
    missing(key) {
      this.set(key, this.make([], {}));
      return this.get(key);
    }
  }
  class Group {  // a set: small whole numbers are gone through in their order, as in Python, where that of other things is nobody's business
    constructor(items = []) {
      this.dict = new Dict();
      for (const one of items) this.add(one);
    }
    has(one) { return this.dict.has(one); }
    add(one) { if (!this.has(one)) this.dict.set(one, one); }
    delete(one) { this.dict.delete(one); }
    get size() { return this.dict.all.size; }
    [Symbol.iterator]() {
      let slots = 8;
      for (let many = 1; many <= this.size; many++) if (5 * many >= 3 * (slots - 1)) while (slots <= 4 * many) slots *= 2;
      const all = this.dict.keys(), small = all.every(one => typeof one === 'bigint' && one >= 0n && one < slots);
      return (small ? all.sort((one, other) => Number(one - other)) : all)[Symbol.iterator]();
    }
  }
  const limits = {numbers: 300000, products: 2e7};  // in one tensor, and what a matrix product multiplies

  // A view of numbers: those of a transpose or a slice are the tensor's own. Ints are BigInt outside, and plain numbers in here.
  class Tensor {
    constructor(data, shape, {dtype = 'float', numpy = false, strides = stridesOf(shape), offset = 0} = {}) {
      Object.assign(this, {data, shape, dtype, numpy, strides, offset});
    }
    view(shape, strides, offset = this.offset) { return new Tensor(this.data, shape, {...this, strides, offset}); }
    get what() { return this.numpy ? 'array' : 'tensor'; }
  }
  const product = sizes => sizes.reduce((all, size) => all * size, 1);
  const stridesOf = shape => shape.map((_, at) => product(shape.slice(at + 1)));
  const shown = shape => `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const countFrom = number => Array.from({length: number}, (_, at) => at);

  function places({shape, strides, offset}) {  // of its numbers, in reading order
    let all = [offset];
    shape.forEach((size, at) => {
      const more = new Array(all.length * size);
      for (let place = 0; place < more.length; place++) more[place] = all[Math.floor(place / size)] + place % size * strides[at];
      all = more;
    });
    return all;
  }
  function values(tensor) {
    const {data, shape, strides, offset} = tensor, size = product(shape), whole = stridesOf(shape);
    const inOrder = shape.every((size, at) => size === 1 || strides[at] === whole[at]);
    return inOrder ? data.slice(offset, offset + size) : places(tensor).map(place => data[place]);
  }
  function make(numbers, shape, {dtype = 'float', numpy = false} = {}) {
    return new Tensor(numbers, shape, {dtype, numpy});
  }
  function room(shape) {
    if (shape.some(size => size < 0)) fail(`A size is negative: ${shown(shape)}.`);
    if (product(shape) > limits.numbers) fail(`A shape of ${shown(shape)} is too large for this page.`);
    return shape;
  }
  const filled = (shape, number, kind) => make(countFrom(product(room(shape))).map(() => number), shape, kind);
  const copy = tensor => make(values(tensor), tensor.shape, tensor);
  const typed = (tensor, dtype) => make(values(tensor).map(number => cast(number, dtype)), tensor.shape, {...tensor, dtype});
  const CASTS = {
    bool: number => Number(number !== 0), uint8: number => Math.trunc(number) & 255, int: Math.trunc, float: number => number,
    complex: number => number instanceof Complex ? number : new Complex(number),
  };
  const cast = (number, dtype) => number instanceof Complex && dtype !== 'complex' ? fail('A complex number has two parts: .real and .imag.') : CASTS[dtype](number);
  const RANK = Object.keys(CASTS);
  const widest = (...dtypes) => RANK[Math.max(...dtypes.map(dtype => RANK.indexOf(dtype)))];

  // --- shapes ---

  function dimension(dim, {shape: {length}}, more = 0) {
    const most = length + more || 1;
    if (dim < -most || dim >= most) fail(`There is no dimension ${dim}: the shape has ${length}.`);
    return dim < 0 ? dim + most : dim;
  }
  const dimensions = (dims, tensor) => dims === undefined || dims === null ? countFrom(tensor.shape.length)
    : [dims].flat().map(dim => dimension(dim, tensor)).filter((dim) => dim < tensor.shape.length);
  function permute(tensor, order) {
    const dims = order.map(dim => dimension(dim, tensor));
    if (new Set(dims).size !== tensor.shape.length || dims.length !== tensor.shape.length) fail(`The order ${shown(order)} does not name each dimension of ${shown(tensor.shape)} once.`);
    return tensor.view(dims.map(dim => tensor.shape[dim]), dims.map(dim => tensor.strides[dim]));
  }
  function swap(tensor, one, other) {
    const order = countFrom(tensor.shape.length), [a, b] = [dimension(one, tensor), dimension(other, tensor)];
    if (order.length) [order[a], order[b]] = [order[b], order[a]];
    return permute(tensor, order);
  }
  const turned = tensor => permute(tensor, countFrom(tensor.shape.length).reverse());
  const unsqueeze = (tensor, dim) => {
    const at = dimension(dim, tensor, 1);
    return tensor.view(tensor.shape.toSpliced(at, 0, 1), tensor.strides.toSpliced(at, 0, 1));
  };
  function squeeze(tensor, dims) {
    const gone = dimensions(dims, tensor).filter(dim => tensor.shape[dim] === 1), keep = (_, at) => !gone.includes(at);
    return tensor.view(tensor.shape.filter(keep), tensor.strides.filter(keep));
  }
  function sized(tensor, shape) {  // with the size that -1 stands for
    const all = product(tensor.shape), rest = product(shape.filter(size => size !== -1));
    const whole = shape.map(size => size === -1 ? all / rest : size);
    if (product(whole) !== all || whole.some(size => !Number.isInteger(size)) || shape.filter(size => size === -1).length > 1)
      fail(`A shape of ${shown(tensor.shape)} has ${all} numbers, which cannot become ${shown(shape)}.`);
    return whole;
  }
  function viewed(tensor, shape) {  // null if the numbers of dimensions that become one are not neighbours
    const parts = [], strides = [];
    for (const [at, size] of tensor.shape.entries()) {  // neighbours are one part
      if (size === 1) continue;
      const stride = tensor.strides[at], last = parts.at(-1);
      if (last && last[1] === size * stride) parts.splice(-1, 1, [last[0] * size, stride]);
      else parts.push([size, stride]);
    }
    for (const size of shape) {
      const [have, stride] = size === 1 ? [1, 1] : parts.shift() ?? [1, 1];
      if (have < size || size && have % size) return null;
      if (have > size) parts.unshift([size && have / size, stride]);
      strides.push(size && have > size ? stride * (have / size) : stride);
    }
    return tensor.view(shape, strides);
  }
  const reshape = (tensor, shape) => {
    const whole = sized(tensor, shape);
    return viewed(tensor, whole) ?? copy(tensor).view(whole, stridesOf(whole));
  };
  function view(tensor, shape) {
    return viewed(tensor, sized(tensor, shape)) ?? fail(`view cannot make ${shown(shape)} of a transposed tensor ${shown(tensor.shape)}, whose numbers are not in order; reshape copies them.`);
  }
  const flatten = (tensor, start = 0, end = -1) => {
    const [from, to] = [dimension(start, tensor), dimension(end, tensor)], {shape} = tensor;
    return reshape(tensor, [...shape.slice(0, from), product(shape.slice(from, to + 1)), ...shape.slice(to + 1)]);
  };
  function diagonal(tensor, far, one, other) {  // the last dimension of the view
    const [a, b] = [one, other].map(dim => dimension(dim, tensor)), {shape, strides} = tensor, stays = (_, dim) => dim !== a && dim !== b;
    const size = Math.max(0, Math.min(shape[a] + Math.min(0, far), shape[b] - Math.max(0, far)));
    const start = tensor.offset + Math.max(0, far) * strides[b] - Math.min(0, far) * strides[a];
    return tensor.view([...shape.filter(stays), size], [...strides.filter(stays), strides[a] + strides[b]], start);
  }
  const LOST = ' If the shorter one is a sum, a mean or a maximum: `keepdims=True` keeps the dimension that it loses.';
  const lost = (one, other) => {
    const [short, long] = [one, other].sort((a, b) => a.length - b.length);
    return long.some((_, at) => String(long.filter((_, other) => other !== at)) === String(short));
  };
  function broadcast(...shapes) {
    const length = Math.max(...shapes.map(shape => shape.length));
    return countFrom(length).map(at => shapes.map(shape => shape[at - length + shape.length] ?? 1).reduce((one, other) => {
      if (one !== other && one !== 1 && other !== 1)
        fail(`The shapes ${shapes.map(shown).join(' and ')} do not fit together: lined up from the right, ${one} meets ${other}.${lost(...shapes) ? LOST : ''}`);
      return one === 1 ? other : one;
    }));
  }
  function expand(tensor, shape) {
    const added = shape.length - tensor.shape.length;
    const fits = added >= 0 && tensor.shape.every((size, at) => [1, size].includes(size === 1 ? 1 : shape[at + added]) || shape[at + added] === -1);
    if (!fits) fail(`A shape of ${shown(tensor.shape)} cannot be expanded to ${shown(shape)}.`);
    const whole = shape.map((size, at) => size === -1 ? tensor.shape[at - added] : size);
    return tensor.view(room(whole), whole.map((size, at) => at < added || tensor.shape[at - added] !== size ? 0 : tensor.strides[at - added]));
  }

  // --- numbers ---

  function each(change, tensors, dtype) {
    if (!change.complex) onlyReal(tensors);
    const shape = room(broadcast(...tensors.map(tensor => tensor.shape))), [list, ...others] = tensors.map(tensor => values(expand(tensor, shape)));
    const made = others.length === 0 ? list.map(one => change(one)) : others.length === 1 ? list.map((one, at) => change(one, others[0][at])) : list.map((one, at) => change(one, ...others.map(other => other[at])));
    return make(change.complex ? made : made.map(Number), shape, {dtype: dtype ?? widest(...tensors.map(tensor => tensor.dtype)), numpy: tensors[0].numpy});
  }
  const onlyReal = tensors => { if (tensors.some(({dtype}) => dtype === 'complex')) fail('This page cannot do this with complex numbers.'); };
  function reduce(tensor, dims, keep, whole, dtype = tensor.dtype) {  // the numbers along some dimensions become one
    onlyReal([tensor]);
    const gone = dimensions(dims, tensor), stay = countFrom(tensor.shape.length).filter(dim => !gone.includes(dim));
    const shape = stay.map(dim => tensor.shape[dim]), size = product(gone.map(dim => tensor.shape[dim]));
    const all = values(permute(tensor, [...stay, ...gone]));
    const made = countFrom(product(shape)).map(row => Number(whole(all.slice(row * size, (row + 1) * size))));
    return make(made, keep ? tensor.shape.map((size, dim) => gone.includes(dim) ? 1 : size) : shape, {dtype, numpy: tensor.numpy});
  }
  function along(tensor, dim, change, dtype = tensor.dtype) {  // each row along a dimension becomes another row
    if (!tensor.shape.length) return make(change(values(tensor)), [], {...tensor, dtype});
    const moved = swap(tensor, dim, -1), size = moved.shape.at(-1), all = values(moved);
    const made = countFrom(size ? all.length / size : 0).map(row => change(all.slice(row * size, (row + 1) * size)));
    return swap(make(made.flat(), [...moved.shape.slice(0, -1), made[0]?.length ?? size], {...tensor, dtype}), dim, -1);
  }
  const sum = list => list.reduce((all, number) => all + number, 0);
  const most = list => list.reduce((one, other) => Number.isNaN(one) || one > other ? one : other, -Infinity);
  const least = list => -most(list.map(number => -number));
  const variance = (list, correction) => {
    const mean = sum(list) / list.length;
    return sum(list.map(number => (number - mean) ** 2)) / Math.max(0, list.length - correction);
  };
  const logSum = list => {
    const top = most(list), base = Number.isFinite(top) ? top : 0;
    return base + Math.log(sum(list.map(number => Math.exp(number - base))));
  };
  const softmax = list => {
    const top = most(list), powers = list.map(number => Math.exp(number - top)), total = sum(powers);
    return powers.map(power => power / total);
  };

  function einsum(rule, tensors) {
    onlyReal(tensors);
    const [left, right] = rule.replaceAll(' ', '').split('->'), names = left.split(',');
    if (names.length !== tensors.length) fail(`einsum: “${rule}” is for ${names.length} tensors, and there are ${tensors.length}.`);
    const hidden = Math.max(...names.map((name, at) => name.includes('...') ? tensors[at].shape.length - name.length + 3 : 0));
    const spread = (name, length = hidden) => name.includes('...') ? [...name.split('...')[0], ...countFrom(length).map(at => at + hidden - length), ...name.split('...')[1]] : [...name];
    const once = [...new Set(left.replace(/[,.]/g, ''))].filter(name => left.split(name).length === 2).sort();
    const inputs = names.map((name, at) => spread(name, tensors[at].shape.length - name.length + 3)), sizes = {};
    const output = right === undefined ? [...countFrom(hidden), ...once] : spread(right);
    inputs.forEach((input, number) => {
      if (input.length !== tensors[number].shape.length) fail(`einsum: “${names[number]}” does not fit the shape ${shown(tensors[number].shape)}.`);
      input.forEach((name, at) => {
        const size = tensors[number].shape[at], known = sizes[name] ?? 1;
        if (size !== known && size !== 1 && known !== 1) fail(`einsum: “${name}” is ${known} in one tensor and ${size} in another.`);
        sizes[name] = Math.max(known, size);
      });
    });
    const inner = Object.keys(sizes).map(name => output.find(one => String(one) === name) ?? name).filter(name => !output.includes(name));
    if (output.some(name => !(name in sizes))) fail(`einsum: “${rule}” asks for an index that no tensor has.`);
    const order = [...output, ...inner], shape = order.map(name => sizes[name]);
    const lists = tensors.map((tensor, number) => values(tensor.view(room(shape), order.map(name =>
      inputs[number].reduce((step, one, at) => String(one) === String(name) && tensor.shape[at] > 1 ? step + tensor.strides[at] : step, 0)))));
    const terms = make(lists[0].map((_, at) => lists.reduce((all, list) => all * list[at], 1)), shape, {dtype: widest(...tensors.map(tensor => tensor.dtype)), numpy: tensors[0].numpy});
    return reduce(terms, inner.map((_, at) => output.length + at), false, sum);
  }
  function matmul(one, other) {
    const sizes = `${shown(one.shape)} @ ${shown(other.shape)}`;
    if (!one.shape.length || !other.shape.length) fail(`@ needs vectors or matrices, not single numbers: ${sizes}.`);
    const [a, b] = [one.shape.length === 1 ? unsqueeze(one, 0) : one, other.shape.length === 1 ? unsqueeze(other, 1) : other];
    const [inner, found] = [a.shape.at(-1), b.shape.at(-2)];
    if (inner !== found) fail(`${sizes} does not fit: rows of ${inner} numbers meet columns of ${found}.`);
    onlyReal([a, b]);
    const rows = a.shape.at(-2), columns = b.shape.at(-1), batch = broadcast(a.shape.slice(0, -2), b.shape.slice(0, -2)), many = product(batch);
    if (many * rows * columns * inner > limits.products) fail(`${sizes} is too large for this page.`);
    const left = values(expand(a, [...batch, rows, inner])), right = values(expand(b, [...batch, inner, columns])), made = [];
    room([...batch, rows, columns]);
    for (let at = 0; at < many * rows; at++) {
      const start = Math.floor(at / rows) * inner * columns;
      for (let column = 0; column < columns; column++) {
        let total = 0;
        for (let place = 0; place < inner; place++) total += left[at * inner + place] * right[start + place * columns + column];
        made.push(total);
      }
    }
    const result = make(made, [...batch, rows, columns], {dtype: widest(a.dtype, b.dtype), numpy: one.numpy});
    const narrow = one.shape.length === 1 ? squeeze(result, -2) : result;
    return other.shape.length === 1 ? squeeze(narrow, -1) : narrow;
  }
  const triangle = (tensor, keeps) => {
    const [rows, columns] = tensor.shape.length > 1 ? tensor.shape.slice(-2) : fail('A triangle needs two dimensions.');
    const square = make(countFrom(rows * columns).map(at => Number(keeps(at % columns - Math.floor(at / columns)))), [rows, columns], tensor);
    return each((number, kept) => kept ? number : 0, [tensor, square], tensor.dtype);
  };
  function joined(list, dim) {
    const [first] = list, at = dimension(dim, first), size = sum(list.map(one => one.shape[at]));
    for (const {shape} of list)
      if (shape.length !== first.shape.length || shape.some((size, dim) => dim !== at && size !== first.shape[dim]))
        fail(`The shapes ${shown(first.shape)} and ${shown(shape)} cannot be joined along dimension ${at}.`);
    const made = filled(first.shape.toSpliced(at, 1, size), 0, {dtype: widest(...list.map(one => one.dtype)), numpy: first.numpy});
    let start = 0;
    for (const one of list) {
      write(made.view(one.shape, made.strides, start * made.strides[at]), one);
      start += one.shape[at];
    }
    return made;
  }
  const pieces = (tensor, dim, sizes) => {
    const at = dimension(dim, tensor);
    let start = 0;
    return sizes.map(size => tensor.view(tensor.shape.toSpliced(at, 1, size), tensor.strides, tensor.offset + ((start += size) - size) * tensor.strides[at]));
  };
  function write(target, source) {
    const numbers = values(expand(source, target.shape));
    places(target).forEach((place, at) => { target.data[place] = cast(numbers[at], target.dtype); });
  }

  // --- indexing: `part` gives a view, or a copy where a tensor is the index ---

  function part(tensor, index) {
    const items = Array.isArray(index) && index instanceof Tuple ? index : [index];
    const takes = item => item === null || item === Ellipsis ? 0 : item instanceof Tensor && item.dtype === 'bool' ? item.shape.length : 1;
    const missing = tensor.shape.length - sum(items.map(takes));
    if (missing < 0) fail(`There are ${sum(items.map(takes))} indices, but the shape ${shown(tensor.shape)} has ${tensor.shape.length} dimensions.`);
    const dots = items.includes(Ellipsis) ? items.indexOf(Ellipsis) : items.length;
    const whole = [...items.slice(0, dots), ...countFrom(missing).map(() => ({slice: [null, null, null]})), ...items.slice(dots + 1)];
    const severalNumbers = tensor.numpy && whole.some(item => item instanceof Tensor), chosen = [];  // in NumPy, a number is then a tensor, too
    let result = tensor, at = 0;
    for (const item of whole) {
      if (item === null) result = unsqueeze(result, at++);
      else if (item.slice) {
        const [start, count, step] = spanOf(item.slice, result.shape[at]);
        if (step < 0 && !tensor.numpy) fail('A slice of a tensor cannot have a negative step; flip turns a dimension round.');
        result = result.view(result.shape.with(at, count), result.strides.with(at, result.strides[at] * step), result.offset + start * result.strides[at]);
        at += 1;
      } else if (typeof item === 'number' && !severalNumbers) {
        const size = result.shape[at], place = item < 0 ? item + size : item;
        if (!(place >= 0 && place < size)) fail(`Index ${item} is out of range: dimension ${at} has the size ${size}.`);
        result = result.view(result.shape.toSpliced(at, 1), result.strides.toSpliced(at, 1), result.offset + place * result.strides[at]);
      } else {
        const index = typeof item === 'number' ? make([item], [], {dtype: 'int'}) : item;
        chosen.push(...index.dtype === 'bool' ? placesOf(index, result.shape, at) : [[at, index]]);
        at += takes(item);
      }
    }
    return chosen.length ? gather(result, chosen) : result;
  }
  function placesOf(mask, shape, at) {  // where it is true: for each of its dimensions, a list of whole numbers
    if (!mask.shape.length) fail('This page takes no single boolean as an index.');
    if (mask.shape.some((size, dim) => size !== shape[at + dim])) fail(`A mask of shape ${shown(mask.shape)} does not fit the shape ${shown(shape)}.`);
    const rows = values(mask).flatMap((number, row) => number ? [row] : []), steps = stridesOf(mask.shape);
    return mask.shape.map((size, dim) => [at + dim, make(rows.map(row => Math.floor(row / steps[dim]) % size), [rows.length], {dtype: 'int'})]);
  }
  function gather(tensor, chosen) {  // by [dimension, tensor of whole numbers], of which there may be several
    if (chosen.some(([, index]) => index.dtype === 'float')) fail('An index must be whole numbers or booleans, not floats.');
    const dims = chosen.map(([dim]) => dim), shape = broadcast(...chosen.map(([, index]) => index.shape));
    const rest = countFrom(tensor.shape.length).filter(dim => !dims.includes(dim)), together = dims.at(-1) - dims[0] === dims.length - 1;
    const front = rest.filter(dim => together && dim < dims[0]), back = rest.slice(front.length), sizes = list => list.map(dim => tensor.shape[dim]);
    const steps = list => places(tensor.view(sizes(list), list.map(dim => tensor.strides[dim]), 0)), [before, after] = [front, back].map(steps);
    const lists = chosen.map(([dim, index]) => values(expand(index, shape)).map(row => {
      const size = tensor.shape[dim];
      if (row < -size || row >= size) fail(`Index ${row} is out of range: the dimension has the size ${size}.`);
      return (row < 0 ? row + size : row) * tensor.strides[dim];
    }));
    const found = countFrom(product(shape)).map(at => lists.reduce((place, list) => place + list[at], tensor.offset));
    const numbers = before.flatMap(one => found.flatMap(two => after.map(three => tensor.data[one + two + three])));
    return make(numbers, [...sizes(front), ...shape, ...sizes(back)], tensor);
  }
  function spanOf([start, stop, step], size) {  // where a slice begins, how many it has, and its step
    const by = step ?? 1, bound = (number, low, high) => Math.min(high, Math.max(low, number < 0 ? number + size : number));
    if (!by) fail('The step of a slice cannot be 0.');
    const from = by > 0 ? bound(start ?? 0, 0, size) : bound(start ?? size - 1, -1, size - 1);
    const to = by > 0 ? bound(stop ?? size, 0, size) : stop === null ? -1 : bound(stop, -1, size - 1);
    return [from, Math.max(0, Math.ceil((to - from) / by)), by];
  }
  function setPart(tensor, index, source) {
    const numbered = make(places(tensor), tensor.shape, {numpy: tensor.numpy});
    const target = part(numbered, index);
    const numbers = values(expand(source, target.shape));
    values(target).forEach((place, at) => { tensor.data[place] = cast(numbers[at], tensor.dtype); });
  }
  const Ellipsis = {dots: true};

  return {Fault, Tuple, Tensor, Complex, Dict, Counter, DefaultDict, Group, Bytes, Instance, Ellipsis, limits, fail, product, room, shown, countFrom, values, make, filled, copy, typed, widest, dimension, permute, swap, turned, unsqueeze, squeeze,
    diagonal, reshape, view, flatten, expand, each, reduce, along, sum, most, least, variance, logSum, softmax, einsum, matmul, triangle, joined, pieces, write, part, setPart, spanOf};
})();
