// Judges an answer by its results: on the same inputs, the right answer's numbers are right, and a known mistake's tell the mistake.
globalThis.judging = (() => {
  const {Tensor, Tuple, make, values, shown, product, sum} = tensors;
  const SURE = 1e-5;
  const DTYPES = {f: 'float', i: 'int', u: 'uint8', b: 'bool'};

  function readable([kind, shape, numbers]) {  // what the page is told, as a value
    if (kind === 'i') return BigInt(shape);
    if (kind === 'f') return shape;
    const options = {dtype: DTYPES[kind[1]], numpy: kind[0] === 'a'};
    return Array.isArray(numbers) ? make([...numbers], shape, options) : Object.assign(new Tensor([], shape, options), {total: numbers});
  }
  const sumOf = numbers => sum(numbers.map(x => Number.isNaN(x) ? 2 : Math.abs(x) > 1e100 ? Math.sign(x) * 3 : x).map((x, at) => x * Math.cos(at + 1)));
  const sizeOf = numbers => sum(numbers.map(x => Number.isNaN(x) || Math.abs(x) > 1e100 ? 3 : Math.abs(x)));
  const closeSums = (one, other, numbers) => Math.abs(one - other) <= SURE * Math.max(Math.abs(other), sizeOf(numbers) / Math.sqrt(numbers.length || 1)) + 1e-9;
  const partsOf = value => Array.isArray(value) ? Array.from(value) : [value];
  const kindOf = value => value instanceof Tensor ? (value.numpy ? 'a' : 't') + value.dtype[0].replace('u', 'i') : '?';

  // "" if a result is the expected one, or else how it differs: its kind, dtype or shape, or in its numbers.
  function differs(value, expected, exact) {
    if (!(value instanceof Tensor) || value.numpy !== expected.numpy) return 'kind';
    if (value.dtype !== expected.dtype) return 'dtype';
    if (String(value.shape) !== String(expected.shape)) return 'shape';
    const numbers = values(value);
    if (expected.total !== undefined) return closeSums(sumOf(numbers), expected.total, numbers) ? '' : 'numbers';
    if (wrongPlaces(value, expected).length) return numbers.every(Number.isFinite) ? 'numbers' : 'finite';
    return wrongPlaces(value, expected, exact).length ? 'zeros' : '';
  }
  function wrongPlaces(value, expected, exact = false) {  // exact: where 0 is expected, nothing but 0 will do
    const right = values(expected), near = expected.tolerance * Math.max(1e-3, ...right.map(Math.abs));
    return values(value).flatMap((number, at) => Math.abs(number - right[at]) <= near && !(exact && !number !== !right[at]) ? [] : [at]);
  }

  function agrees(pattern, cases) {  // does a known mistake give these results?
    const [, changes = '', rest] = pattern.match(/^(?:c(\d+) )?(.*)$/), marks = rest.split(' ');
    return changes === [...new Set(cases.flatMap(({changed}) => changed ?? []))].sort().join('') && marks.every((mark, number) => {
      const one = cases[number];
      if (mark === '!' || one.fault !== undefined) return mark === '!' && one.fault !== undefined || mark === '=' && one.right;
      if (mark === '=') return one.right;
      const parts = partsOf(one.value), wanted = mark.split('|');
      return parts.length === wanted.length && wanted.every((part, at) => {
        if (part === '=' || part === '~') return one.differences[at] === (part === '=' ? '' : 'zeros');
        if (!(parts[at] instanceof Tensor) || ['', 'zeros'].includes(one.differences[at])) return false;
        const expected = one.expected[at], [, kind = kindOf(expected), shape = String(expected.shape), total] = part.match(/^(?:(\w\w)([\d,]*):)?(.+)$/);
        if (kindOf(parts[at]) !== kind || String(parts[at].shape) !== shape) return false;
        const numbers = values(parts[at]);
        return closeSums(parts[at].sum ??= sumOf(numbers), Number(total), numbers);
      });
    });
  }

  // --- words ---

  const list = (names, word = 'and') => names.length > 1 ? `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}` : names[0];
  const kindIn = value => value instanceof Tensor ? `${value.numpy ? 'a NumPy array' : 'a tensor'} of shape ${shown(value.shape)}` : value instanceof Tuple ? `a tuple of ${value.length}` : Array.isArray(value) ? `a list of ${value.length}` : library.kindOf(value);
  const numberIn = (number, dtype) => dtype === 'complex' ? `${numberIn(number.re, 'float')} + ${numberIn(number.im, 'float')}i` : realIn(number, dtype);
  const realIn = (number, dtype) => dtype === 'bool' ? (number ? 'True' : 'False') : Number.isNaN(number) ? 'NaN' : !Number.isFinite(number) ? (number > 0 ? '∞' : '−∞')
    : dtype === 'int' || dtype === 'uint8' ? String(number) : Number.isInteger(number) && Math.abs(number) > 99 && Math.abs(number) < 1e12 ? String(number) : Math.abs(number) >= 1e5 || number && Math.abs(number) < 5e-3 ? number.toExponential(1) : number.toFixed(2);
  const inputIn = (name, value) => value instanceof Tensor ? `\`${name}\` of shape ${shown(value.shape)}` : `\`${name}\` = ${value}`;

  function describe(told, {value, expected, differences}) {  // [sentence, which of the results, headline]
    const {returns, shapes} = told, several = returns.length > 1;
    if (several && (!Array.isArray(value) || value.length !== returns.length)) return [`It returns ${kindIn(value)}; the ${returns.length} results (${returns.join(', ')}) are expected.`, null, 'the wrong number of results.'];
    if (!several && Array.isArray(value)) return [`The result is ${kindIn(value)}; ${expected[0].numpy ? 'a NumPy array' : 'a tensor'} is expected.`, null, HEADLINES.kind];
    const order = ['kind', 'dtype', 'shape', 'finite', 'numbers', 'zeros'];
    const at = returns.map((_, place) => place).filter(place => differences[place]).reverse().sort((a, b) => order.indexOf(differences[a]) - order.indexOf(differences[b]))[0];
    const the = returns[at] === 'result' ? 'The result' : `\`${returns[at]}\``, mine = partsOf(value)[at], right = expected[at];
    const fine = several && returns.filter((_, place) => !differences[place]).map(name => `\`${name}\` is right.`).join(' ');
    const sentence = {
      kind: () => `${the} is ${kindIn(mine)}; ${right.numpy ? 'a NumPy array' : 'a tensor'} is expected.`,
      dtype: () => `${the} holds ${WORDS[mine.dtype]}; ${WORDS[right.dtype]} are expected.`,
      shape: () => `${the} has shape ${shown(mine.shape)}; ${shown(right.shape)}${shapes[returns[at]] ? ` = ${shapes[returns[at]]}` : ''} is expected.`,
      finite: () => `${the} holds ${values(mine).some(Number.isNaN) ? 'NaN (not a number)' : 'an infinite number'}, where every number should be finite.`,
      numbers: () => {
        if (right.total !== undefined) return `${the} has the right shape, but not the right numbers.`;
        const [first] = wrongPlaces(mine, right), two = [mine, right].map(one => numberIn(values(one)[first], one.dtype));
        const [yours, theirs] = two[0] === two[1] ? [mine, right].map(one => String(Number(values(one)[first].toPrecision(7)))) : two;
        return `${the} has the right shape, but not the right numbers. The first that differs is \`${returns[at]}[${placeOf(first, mine.shape).join(', ')}]\`: ${yours} instead of ${theirs}.`;
      },
      zeros: () => {
        const [first] = wrongPlaces(mine, right, true), number = values(mine)[first];
        const place = `\`${returns[at]}[${placeOf(first, mine.shape).join(', ')}]\``;
        return number ? `${place} is ${number.toExponential(1)}: that is little, but not 0.` : `${place} is 0, where another number is expected.`;
      },
    }[differences[at]]();
    return [`${sentence}${fine ? ` ${fine}` : ''}`, at, HEADLINES[differences[at]]];
  }
  const HEADLINES = {kind: 'the wrong kind of result.', dtype: 'the wrong kind of numbers.', shape: 'the wrong shape.', finite: 'numbers that are not finite.', numbers: 'the wrong numbers.',
    zeros: 'almost right.'};
  const WORDS = {float: 'floats', int: 'whole numbers', uint8: 'whole numbers', bool: 'booleans', complex: 'complex numbers'};
  const placeOf = (at, shape) => shape.map((size, dim) => Math.floor(at / product(shape.slice(dim + 1))) % size);

  // One matrix of a result with more dimensions: the first that has a wrong number, or else one that is not the same everywhere.
  // A tiny number that is right is 0.00 among others with two decimals: its exponent would widen the column.
  function matrixOf(tensor, wrong = []) {
    const {shape} = tensor, [rows, columns] = shape.length > 1 ? shape.slice(-2) : [1, shape[0] ?? 1];
    const all = values(tensor), size = rows * columns, varied = all.findIndex((one, at) => one !== all[at - at % size]);
    const number = size ? Math.floor(Math.max(0, wrong[0] ?? varied) / size) : 0;
    const own = all.slice(number * size, (number + 1) * size), decimals = tensor.dtype === 'float' && own.some(one => Math.abs(one) >= 5e-3 && Math.abs(one) < 1e5);
    return {
      index: placeOf(number * size, shape).slice(0, Math.max(0, shape.length - 2)),
      rows: Array.from({length: rows}, (_, row) => Array.from({length: columns}, (_, column) => {
        const at = number * size + row * columns + column;
        return {text: decimals && Math.abs(all[at]) < 5e-3 && !wrong.includes(at) ? '0.00' : numberIn(all[at], tensor.dtype), wrong: wrong.includes(at)};
      })),
    };
  }
  function shownCase(told, one, at) {  // matrices to look at
    const given = told.inputs.slice(0, one.inputs.length).map((name, number) => [name, one.inputs[number]]);
    const shownInputs = given.filter(([, value]) => value instanceof Tensor && value.shape.length < 3 && product(value.shape) <= 20);
    const made = {inputs: `With ${list(given.map(([name, value]) => inputIn(name, value)))}:`, given: shownInputs.map(([name, value]) => ({name, ...matrixOf(value)})), printed: one.printed};
    if (at === null || at === undefined || one.fault !== undefined) return made;
    const mine = partsOf(one.value)[at], right = one.expected[at], name = told.returns[at];
    if (right.total !== undefined) return made;
    const alike = mine instanceof Tensor && String(mine.shape) === String(right.shape), wrong = alike ? wrongPlaces(mine, right, told.exact) : [];
    if (mine instanceof Tensor && product(mine.shape) <= 400) made.yours = {name, ...matrixOf(mine, wrong)};
    made.expected = {name, ...matrixOf(right, wrong)};
    return made;
  }

  // solved: {exercise: code} of other exercises, which the code may call.
  // {sign: "✓", "✗" or "○", headline, why: [sentences as HTML], line, case}
  function judge(name, told, code, solved = {}) {
    const inputs = told.cases.map(one => one.inputs.map(readable));
    const outcomes = python.run(code, name, inputs, {gradients: told.gradients, earlier: told.earlier, solved});
    if (outcomes[0].empty) return {sign: '○', headline: 'not attempted yet.', why: ['Write the body of the function in place of `raise NotImplementedError`.']};
    if (outcomes[0].early) return {sign: '✗', headline: `an error in line ${outcomes[0].line}.`, why: [outcomes[0].fault], line: outcomes[0].line};
    const cases = outcomes.map((outcome, number) => {
      const {spared} = told.cases[number], expected = told.cases[number].expected.map(one => Object.assign(readable(one), {tolerance: told.tolerance})), parts = partsOf(outcome.value);
      const before = told.cases[number].inputs.map(readable);
      const changed = before.flatMap((value, at) => value instanceof Tensor && String(values(value)) !== String(values(inputs[number][at])) ? [at] : []);
      const fits = outcome.fault === undefined && (told.returns.length > 1 ? Array.isArray(outcome.value) : !Array.isArray(outcome.value)) && parts.length === expected.length;
      const differences = outcome.fault === undefined ? expected.map((right, at) => differs(parts[at], right, told.exact)) : [];
      const one = {...outcome, inputs: before, expected, differences, changed: outcome.fault === undefined ? changed : [], right: fits && differences.every(kind => !kind)};
      return spared && outcome.fault !== undefined && !outcome.endless ? {...one, right: true} : one;
    });
    const first = cases.find(one => !one.right);
    if (!first && cases.every(one => !one.changed.length)) return {sign: '✓', headline: '', why: [`Right on all ${cases.length} inputs of this page${told.cases.length > 8 ? ', from small to hard' : ''}.`], case: shownCase(told, cases[0], told.returns.length - 1)};
    if (first?.value === null) return {sign: '✗', headline: 'it returns nothing.', why: ['The function ends without a `return`, or returns None.'], look: 'does every path through it end in `return …`?', case: shownCase(told, first, null)};
    const [sentence, at, headline] = first && first.fault === undefined ? describe(told, first) : ['', null, ''];
    const whole = cases.length === told.cases.length, alone = whole ? told.mistakes.filter(([, , , , patterns]) => patterns.some(pattern => agrees(pattern, cases))) : [];
    const pair = whole && !alone.length && told.pairs.find(([, , pattern]) => agrees(pattern, cases));
    const named = pair ? pair.slice(0, 2).map(place => told.mistakes[place]) : alone;
    if (named.length) {
      const wrong = cases.find(one => !one.right && one.fault === undefined), [said, place] = wrong ? describe(told, wrong) : ['', null];
      const mistakes = named.map(([name, anchor, why, look]) => ({name, anchor, why, look})), enough = !wrong || ['numbers', 'zeros'].includes(wrong.differences[place]);
      return {sign: '✗', both: Boolean(pair), mistakes, why: [], said: enough ? '' : said, case: wrong && shownCase(told, wrong, place)};
    }
    const changed = [...new Set(cases.flatMap(one => one.changed))].map(at => `\`${told.inputs[at]}\``);
    if (!first) return {sign: '✗', headline: 'it changes its input.', why: [`The results are right, but ${list(changed)} is different after the call.`]};
    const isSwapped = ({value, expected}) => Array.isArray(value) && value.length === 2 && expected.length === 2 && expected.every((right, at) => !differs(value[1 - at], right, told.exact));
    if (whole && cases.every(isSwapped)) return {sign: '✗', headline: 'the wrong order.', why: [`The results are right, but the pair is the wrong way round: (${told.returns.join(', ')}) is expected.`], case: shownCase(told, first, null)};
    const before = cases.indexOf(first);
    if (first.fault !== undefined) return {sign: '✗', headline: `an error in line ${first.line}.`, why: [first.fault, ...before ? [`With the first ${before === 1 ? 'input' : `${before} inputs`} of this page, it ran and was right.`] : []], line: first.line, case: shownCase(told, first, null)};
    return {sign: '✗', headline, why: [sentence], unknown: ['numbers', 'finite', 'zeros'].includes(first.differences[at]), case: shownCase(told, first, at)};
  }
  return {judge, readable, list};
})();
