// What is typed below a question, a number or a shape, read and judged as in Python (reading.py, kinds.py).
// `told` is what clicked.py or the site knows of the answer. The site and the cards in notebooks share this file.
globalThis.answers ??= (() => {
  const same = (told, one, other) => told.shape ? String(one) === String(other)
    : Math.abs(one - other) <= Math.max(1e-9 * Math.max(Math.abs(one), Math.abs(other)), told.tolerance);

  function shape(text) {
    if (!/^[\s\d,x×()[\]]*$/.test(text) || !/\d/.test(text)) return null;
    return text.match(/\d+/g).map(Number);
  }

  function number(text) {  // plain arithmetic: 1/4, 25 %, 10^-6, 4*512*513, ln 8
    const signs = {'−': '-', '–': '-', '×': '*', '·': '*', '÷': '/', '^': '**'};
    let rest = text.toLowerCase().replace(/[−–×·÷^]/g, sign => signs[sign]).replace(/(\d)[ ,](?=\d{3}(?!\d))/g, '$1').replace(/\s+/g, '');
    const percent = rest.endsWith('%');
    if (percent) rest = rest.slice(0, -1);
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
      return take(/^\*\*/) ? base ** signed() : base;
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
    const value = sum() / (percent ? 100 : 1);
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
