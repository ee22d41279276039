// Random numbers with a seed: the very ones that NumPy and PyTorch draw. PyTorch's are rounded to float32, as there.
globalThis.chance = (() => {
  const {product, room, countFrom, make, part, matmul, swap} = tensors;
  const {modules, define, known, operate, whole, number: float, array} = library;

  // --- NumPy: PCG64, seeded by a SeedSequence, and a ziggurat for normal numbers ---

  const word = value => value >>> 0, SIXTY_FOUR = (1n << 64n) - 1n, ALL = (1n << 128n) - 1n;
  function seeds(seed, count) {  // as many numbers of 64 bits
    let mixer = 0x43b0d7e5;
    const hashed = value => {
      const mixed = value ^ mixer;
      mixer = Math.imul(mixer, 0x931e8875);
      const made = Math.imul(mixed, mixer);
      return word(made ^ made >>> 16);
    };
    const entropy = [seed & 0xffffffffn, seed >> 32n].map(Number), pool = countFrom(4).map(at => hashed(entropy[at] ?? 0));
    for (const from of countFrom(4)) for (const to of countFrom(4)) if (from !== to) {
      const made = Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, hashed(pool[from])) | 0;
      pool[to] = word(made ^ made >>> 16);
    }
    let factor = 0x8b51f9dd;
    const words = countFrom(2 * count).map(at => {
      const mixed = pool[at % 4] ^ factor;
      factor = Math.imul(factor, 0x58f38ded);
      const made = Math.imul(mixed, factor);
      return BigInt(word(made ^ made >>> 16));
    });
    return countFrom(count).map(at => words[2 * at] | words[2 * at + 1] << 32n);
  }
  function numpyGenerator(seed) {
    const MULTIPLIER = 2549297995355413924n << 64n | 4865540595714422341n, [a, b, c, d] = seeds(seed, 4);
    const step = (c << 64n | d) << 1n & ALL | 1n;
    let state = 0n, half = null;
    const next = () => { state = state * MULTIPLIER + step & ALL; };
    next();
    state = state + (a << 64n | b) & ALL;
    next();
    function bits() {  // 64
      next();
      const mixed = state >> 64n ^ state & SIXTY_FOUR, turn = state >> 122n;
      return mixed >> turn | mixed << (64n - turn) & SIXTY_FOUR;
    }
    const real = () => Number(bits() >> 11n) / 2 ** 53;
    function word32() {
      if (half !== null) {
        const kept = half;
        half = null;
        return kept;
      }
      const both = bits();
      half = both >> 32n;
      return both & 0xffffffffn;
    }
    function below(count) {  // Lemire's way
      if (count === 1) return 0;
      const size = BigInt(count);
      let made = word32() * size;
      while ((made & 0xffffffffn) < (2n ** 32n - size) % size) made = word32() * size;
      return Number(made >> 32n);
    }
    function upTo(most) {  // as a shuffle draws
      for (const mask = 2 ** Math.ceil(Math.log2(most + 1)) - 1; ;) {
        const made = Number(word32()) & mask;
        if (made <= most) return made;
      }
    }
    function normal() {
      for (;;) {
        const drawn = bits(), row = Number(drawn & 0xffn), sign = drawn >> 8n & 1n ? -1 : 1, rest = drawn >> 9n & (1n << 52n) - 1n, size = Number(rest);
        const {width, inside, height} = ziggurat(), x = sign * size * width[row];
        if (size < inside[row]) return x;
        if (row) {
          if ((height[row - 1] - height[row]) * real() + height[row] < Math.exp(-0.5 * x * x)) return x;
        } else {
          for (;;) {
            const far = -Math.log1p(-real()) / EDGE, down = -Math.log1p(-real());
            if (2 * down > far * far) return rest >> 8n & 1n ? -(EDGE + far) : EDGE + far;
          }
        }
      }
    }
    return {real, below, upTo, normal};
  }
  const EDGE = 3.654152885361009, AREA = 0.004928673233974655;
  let tables = null;
  function ziggurat() {
    if (tables) return tables;
    const [width, inside, height] = [[], [0, 0], [1]], most = 2 ** 52;
    let x = EDGE;
    height[255] = Math.exp(-0.5 * x * x);
    width[255] = x / most;
    inside[0] = x * height[255] / AREA * most;
    width[0] = AREA / height[255] / most;
    for (let row = 254; row > 0; row--) {
      const next = Math.sqrt(-2 * Math.log(AREA / x + height[row + 1]));
      inside[row + 1] = next / x * most;
      [width[row], height[row], x] = [next / most, Math.exp(-0.5 * next * next), next];
    }
    return tables = {width, inside, height};
  }

  const sized = (size, draw, dtype = 'float') => {
    const shape = size === undefined || size === null ? [] : room([whole(size)].flat());
    return make(countFrom(product(shape)).map(draw), shape, {dtype, numpy: true});
  };
  function shuffled(from, count) {
    const order = countFrom(count);
    for (let at = count - 1; at > 0; at--) {
      const other = from.upTo(at);
      [order[at], order[other]] = [order[other], order[at]];
    }
    return make(order, [count], {dtype: 'int', numpy: true});
  }
  known.rng = {};
  define('rng', 'normal', 'rng loc? scale? size?', (rng, middle = 0, scale = 1, size) => sized(size, () => float(middle) + float(scale) * rng.normal()));
  define('rng', 'standard_normal', 'rng size?', (rng, size) => sized(size, rng.normal));
  define('rng', 'random', 'rng size?', (rng, size) => sized(size, rng.real));
  define('rng', 'uniform', 'rng low? high? size?', (rng, low = 0, high = 1, size) => sized(size, () => float(low) + (float(high) - float(low)) * rng.real()));
  define('rng', 'integers', 'rng low high? size?', (rng, low, high, size) => {
    const [from, to] = high === undefined || high === null ? [0, whole(low)] : [whole(low), whole(high)];
    return sized(size, () => from + rng.below(to - from), 'int');
  });
  define('rng', 'permutation', 'rng x', (rng, x) => typeof x === 'bigint' ? shuffled(rng, whole(x)) : part(array(x), shuffled(rng, array(x).shape[0])));
  define('np', 'default_rng', 'seed?', seed => ({title: 'this generator', own: known.rng, ...numpyGenerator(seed === undefined ? BigInt(Date.now()) : BigInt(whole(seed)))}));
  modules.np.random = {title: 'np.random', known: {default_rng: known.np.default_rng}};
  delete known.np.default_rng;

  // --- PyTorch: a Mersenne Twister, and Box and Muller's normal numbers ---

  function twister(state) {
    let at = 624;
    const bits = () => {  // 32
      if (at === 624) {
        for (let place = 0; place < 624; place++) {
          const mixed = state[place] & 0x80000000 | state[(place + 1) % 624] & 0x7fffffff;
          state[place] = word(state[(place + 397) % 624] ^ mixed >>> 1 ^ (mixed & 1 ? 0x9908b0df : 0));
        }
        at = 0;
      }
      let made = state[at++];
      made ^= made >>> 11;
      made ^= made << 7 & 0x9d2c5680;
      made ^= made << 15 & 0xefc60000;
      return word(made ^ made >>> 18);
    };
    return {bits};
  }
  function torchGenerator(seed) {
    const state = [word(seed)];
    for (let at = 1; at < 624; at++) state.push(word(Math.imul(1812433253, state[at - 1] ^ state[at - 1] >>> 30) + at));
    const {bits} = twister(state);
    let kept = null;
    const real = wide => {
      if (!wide) return (bits() & 0xffffff) / 2 ** 24;
      const high = bits();
      return ((high & 0x1fffff) * 2 ** 32 + bits()) / 2 ** 53;
    };
    function normal() {  // one of few
      if (kept !== null) {
        const made = kept;
        kept = null;
        return made;
      }
      const [turn, size] = [real(true), real(true)], far = Math.sqrt(-2 * Math.log1p(-size));
      kept = far * Math.sin(2 * Math.PI * turn);
      return far * Math.cos(2 * Math.PI * turn);
    }
    function normals(count, wide) {
      if (count < 16) return countFrom(count).map(normal);
      const made = countFrom(count).map(() => real(wide));
      const turn = start => {
        for (let at = start; at < start + 8; at++) {
          const far = Math.sqrt(-2 * Math.log(1 - made[at])), angle = 2 * Math.PI * made[at + 8];
          [made[at], made[at + 8]] = [far * Math.cos(angle), far * Math.sin(angle)];
        }
      };
      for (let start = 0; start < count - 15; start += 16) turn(start);
      if (count % 16) {
        for (let at = count - 16; at < count; at++) made[at] = real(wide);
        turn(count - 16);
      }
      return made;
    }
    return {bits, real, normals};
  }
  let common = torchGenerator(Date.now()), isWide = false;  // are floats drawn as float64 where nothing else is said?
  const begin = () => { isWide = false; };
  define('torch', 'get_default_dtype', '*', () => ({dtype: 'float', wide: isWide}));
  define('torch', 'set_default_dtype', 'dtype', dtype => { isWide = Boolean(dtype.wide); });
  const seeded = object => Object.assign(object, {manual_seed: ([seed]) => Object.assign(object, torchGenerator(whole(seed)))});
  modules.torch.Generator = () => seeded({title: 'this generator', known: {}, ...torchGenerator(0)});
  define('torch', 'manual_seed', 'seed', seed => { common = torchGenerator(whole(seed)); });
  const rounded = (numbers, wide) => wide ? numbers : numbers.map(Math.fround);
  const flat = size => room([whole(size.length === 1 && Array.isArray(size[0]) ? size[0] : size)].flat());
  define('torch', 'randn', '...size * generator? dtype?', (size, _, from, dtype) => make(rounded((from ?? common).normals(product(flat(size)), (dtype?.wide ?? isWide)), (dtype?.wide ?? isWide)), flat(size)));
  define('torch', 'rand', '...size * generator? dtype?', (size, _, from, dtype) => make(countFrom(product(flat(size))).map(() => (from ?? common).real((dtype?.wide ?? isWide))), flat(size)));
  define('torch', 'randint', 'low high? size? * generator?', (low, high, size, _, from) => {
    const [start, end, shape] = size === undefined ? [0, whole(low), high] : [whole(low), whole(high), size];
    return make(countFrom(product(room(whole(shape)))).map(() => start + (from ?? common).bits() % (end - start)), whole(shape), {dtype: 'int'});
  });
  define('torch', 'randperm', 'n * generator?', (n, _, from) => {
    const order = countFrom(whole(n));
    for (let at = 0; at < order.length - 1; at++) {
      const other = at + (from ?? common).bits() % (order.length - at);
      [order[at], order[other]] = [order[other], order[at]];
    }
    return make(order, [order.length], {dtype: 'int'});
  });

  const uniform = (shape, most) => make(countFrom(product(room(shape))).map(() => Math.fround(common.real() * 2 * most - most)), shape);
  const normal = shape => make(rounded(common.normals(product(room(shape)), isWide), isWide), shape);
  return {begin, twister, uniform, normal};
})();
