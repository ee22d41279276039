// What is typed below a question, a number or a shape, read and judged as in Python (reading.py, kinds.py).
// `told` is what clicked.py or the site knows of the answer. The site and the cards in notebooks share this file.
globalThis.answers ??= (() => {
  const same = (told, one, other) => told.shape ? String(one) === String(other)
    : Math.abs(one - other) <= Math.max(1e-9 * Math.max(Math.abs(one), Math.abs(other)), told.tolerance);

  function shape(text) {
    if (!/^[\s\d,x×()[\]]*$/.test(text) || !/\d/.test(text)) return null;
    return text.match(/\d+/g).map(Number);
  }

  const SIGNS = {'−': '-', '–': '-', '×': '*', '·': '*', '÷': '/', '√': ' sqrt ', '_': ' ', '’': ' ', "'": ' '};

  function withAPoint(digits) {  // without thousands separators, with a point before the decimals
    if (/^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(digits)) return digits.replaceAll(',', '');
    if (/^[1-9]\d{0,2}(\.\d{3})+(,\d+|\.\d{3})$/.test(digits)) return digits.replaceAll('.', '').replace(',', '.');
    return digits.replaceAll(',', '.');
  }

  function number(text) {  // plain arithmetic: 1/4, 25 %, 10^-6, 4*512*513, ln 8, step by step as in arithmetic.py
    if (text.length > 200) return null;
    let rest = text.toLowerCase().replace(/[−–×·÷√_’']/g, sign => SIGNS[sign]).trim().replace(/\s+/g, ' ')
      .replaceAll('^', '**').replace(/^\[(.*)\]$/, '$1')
      .replace(/(?<![\d.,])\d{1,3}( \d{3})+(?!\d)/g, thousands => thousands.replaceAll(' ', ''))
      .replace(/(?<=[\d)])(?<!\b0) ?x ?(?=[\d(])/g, '*')
      .replace(/(?<![\d.])\d[\d.,]*/g, withAPoint)
      .replace(/^([+-]?[\d.]+) ?%/, '($1/100)')
      .replace(/\b(ln|log|sqrt|exp) (?=[\d.(])/g, '$1');
    if (/[\w.)] [\w.(]/.test(rest)) return null;  // two numbers without a sign between them
    rest = rest.replaceAll(' ', '');
    const take = pattern => {
      const found = rest.match(pattern);
      if (found) rest = rest.slice(found[0].length);
      return found?.[0];
    };
    const atom = () => {
      const name = take(/^(ln|log|sqrt|exp)/);
      if (name) return {ln: Math.log, log: Math.log, sqrt: Math.sqrt, exp: Math.exp}[name](atom());
      if (take(/^\(/)) {
        const inside = sum();
        return take(/^\)/) ? inside : NaN;
      }
      return parseFloat(take(/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/) ?? 'none');
    };
    const power = () => {
      const base = atom();
      return take(/^\*\*/) && base === base ? base ** signed() : base;  // what is no number has no power
    };
    const signed = () => take(/^-/) ? -signed() : (take(/^\+/), power());
    const product = () => {
      let value = signed();
      for (let sign; (sign = take(/^(\*(?!\*)|\/)/));) value = sign === '*' ? value * signed() : value / signed();
      return value;
    };
    const sum = () => {
      let value = product();
      for (let sign; (sign = take(/^[+-]/));) value = sign === '+' ? value + product() : value - product();
      return value;
    };
    const value = sum();
    return rest || !Number.isFinite(value) ? null : value;
  }

  return {
    read: (told, text) => told.shape ? shape(text.trim()) : number(text.trim()),  // null if it cannot be read
    form: told => told.shape ? 'A shape is a list of whole numbers, as in (2, 3).'
      : 'Please type a number, with a decimal point if it needs one, as in 0.25.',
    judge(told, value) {
      const right = same(told, value, told.right), slip = told.slips.find(([slip]) => same(told, value, slip));
      return {right, why: right ? told.why : slip ? slip[1] : told.pointer};
    },
  };
})();
