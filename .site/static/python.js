// A small part of Python: what an answer of a few lines needs. Each piece of the code that is typed becomes a function.
globalThis.python = (() => {
  const {Fault, Tuple, Complex, Dict, Group, Bytes, Instance, Ellipsis, fail} = tensors;
  const {modules, course, cmath, builtins, operate, unary, inPlace, truth, attribute, setAttribute, items, getItem, setItem, deleteItem, contains, repr, str, format, kindOf, nearest} = library;
  const MOST_SECONDS = 8, MOST_SECONDS_OF_A_CELL = 20;
  let mostSteps = 100000;  // of an answer; a lesson's cells may take more
  let theCourse = null;  // in a lesson, what its package holds under a name
  let lastValue = null;  // of an expression that stands alone
  let line = 0, steps = 0, until = 0, depth = 0, earlier = [];  // exercises before this one

  function step() {
    steps += 1;
    if (steps > mostSteps || steps % 20 === 0 && Date.now() > until) throw Object.assign(new Fault('This takes too long: is there a loop that never ends?'), {endless: true});
  }

  // --- words ---

  const WORD = /(?<blank>[ \t\f]+|#[^\n]*|\\\r?\n)|(?<end>\r?\n)|(?<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?j?)|(?<text>(?:[fFrRbB]|[bB][rR]|[rR][bB])?(?:"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<sign>\*\*=|\/\/=|\.\.\.|->|:=|\*\*|\/\/|<<|>>|[-+*/%@&|^<>=!]=|[-+*/%@&|^~<>=()[\]{},:.;])/uy;
  function wordsOf(source, first = 1) {
    const words = [], indents = [0];
    let at = 0, row = first, open = 0, fresh = true;
    const add = (kind, text = '') => words.push({kind, text, line: row});
    while (at < source.length) {
      if (fresh && !open) {  // where a line begins
        const [spaces] = source.slice(at).match(/^[ \t]*/), rest = source.slice(at + spaces.length), indent = spaces.replaceAll('\t', '    ').length;
        if (!/^(#|\r?\n|$)/.test(rest)) {
          if (indent > indents.at(-1)) {
            indents.push(indent);
            add('indent');
          }
          while (indent < indents.at(-1)) {
            indents.pop();
            add('dedent');
            if (indent > indents.at(-1)) throw wrongAt(row, 'This line is indented like none above it.');
          }
        }
        fresh = false;
      }
      WORD.lastIndex = at;
      const found = WORD.exec(source);
      if (!found) throw wrongAt(row, /^['"]/.test(source.slice(at)) ? 'A text begins here, but it does not end.' : `“${source[at]}” is no part of Python.`);
      const [kind, text] = Object.entries(found.groups).find(([, text]) => text !== undefined);
      if (kind === 'end') {
        if (!open && words.length && !['end', 'indent', 'dedent'].includes(words.at(-1).kind)) add('end');
        fresh = !open;
      } else if (kind !== 'blank') add(kind, text);
      if (kind === 'sign') open += '([{'.includes(text) ? 1 : ')]}'.includes(text) ? -1 : 0;
      row += text.split('\n').length - 1;
      at = WORD.lastIndex;
    }
    if (open > 0) throw wrongAt(words.findLast(({text}) => '([{'.includes(text) && text).line, 'A bracket is opened on this line or before it, and not closed.');
    if (words.length && words.at(-1).kind !== 'end') add('end');
    indents.slice(1).forEach(() => add('dedent'));
    add('last');
    return words;
  }
  const ESCAPES = {n: '\n', t: '\t', r: '\r', '\n': ''};
  const unescaped = text => text.replace(/\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|([^]))/g, (_, four, two, sign) => sign === undefined ? String.fromCharCode(parseInt(four ?? two, 16)) : ESCAPES[sign] ?? (/[\\'"]/.test(sign) ? sign : `\\${sign}`));
  const wrongAt = (at, message) => Object.assign(new Fault(message), {line: at});

  // --- what they mean: `get` gives a value, `set` takes one ---

  const KEYWORDS = ['and', 'as', 'assert', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield', 'async', 'await'];
  const IMPORTED = {torch: modules.torch, numpy: modules.np, math: modules.math, cmath, 'torch.nn': modules.nn, 'torch.nn.functional': modules.F,
    'transformer_lessons.attention': course.attention, 'transformer_lessons.masks': course.masks};
  const held = name => Object.hasOwn(IMPORTED, name) ? IMPORTED[name] : theCourse && Object.hasOwn(library.standard, name) ? library.standard[name] : null;  // modules
  const CONSTANTS = {None: null, True: true, False: false};
  const LEVELS = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '//', '%', '@']];
  const COMPARISONS = ['==', '!=', '<', '>', '<=', '>=', 'in', 'is', 'not'];

  // The whole of a source, whose first line has the number `first`, or the one expression between the brackets of f"{…}".
  function parse(source, first = 1, isExpression = false) {
    const words = wordsOf(source, first), imports = [], strange = new Set();
    let at = 0, space = {reads: new Set(), makes: new Set()};  // the names that are read before they are made, and those that are made
    const inside = parser => {  // a function or a comprehension, whose names are its own
      const outer = space;
      space = {reads: new Set(), makes: new Set()};
      const made = parser();
      space.reads.forEach(name => { if (!space.makes.has(name) && !outer.makes.has(name)) outer.reads.add(name); });
      space = outer;
      return made;
    };
    const apart = parser => {  // of which it is not known yet whether its names are read here
      const {reads} = space;
      space.reads = new Set();
      const one = Object.assign(parser(), {reads: space.reads});
      space.reads = reads;
      return one;
    };
    const read = one => {
      one.reads.forEach(name => { if (!space.makes.has(name)) space.reads.add(name); });
      return one;
    };
    const make = (...targets) => targets.forEach(one => {
      const parts = (function all({parts, ...other}) { return parts ? parts.flatMap(all) : [other]; })(one), bare = parts.map(({name}) => name);
      one.reads?.forEach(name => { if (!bare.includes(name) && !space.makes.has(name)) space.reads.add(name); });
      parts.forEach(({base}) => { if (base) space.makes.add(base); });
    });
    const word = () => words[at], is = (...texts) => ['sign', 'name'].includes(word().kind) && texts.includes(word().text);
    const take = text => is(text) ? words[at++] : null;
    const shown = ({kind, text}) => ({end: 'the end of the line', last: 'the end', indent: 'an indented line', dedent: 'a line that is indented less'})[kind] ?? `“${text}”`;
    const refuse = message => { throw wrongAt(word().kind === 'end' || word().kind === 'last' ? words[Math.max(0, at - 1)].line : word().line, message); };
    const need = text => take(text) ?? refuse(`“${text}” is missing before ${shown(word())}.`);
    function needName() {
      if (word().kind !== 'name' || KEYWORDS.includes(word().text)) refuse(`A name is missing before ${shown(word())}.`);
      return words[at++].text;
    }
    const on = (place, get) => scope => {  // a fault is told with the line where it happens
      const before = line;
      line = place;
      const value = get(scope);
      line = before;
      return value;
    };

    function expression() {
      if (is('lambda')) return lambda();
      const first = either();
      if (first.name && take(':=')) {
        const value = expression();
        return {get: scope => {
          const made = value.get(scope);
          first.set(scope, made);
          return made;
        }};
      }
      if (!take('if')) return first;
      const condition = either();
      need('else');
      const other = expression();
      return {get: scope => truth(condition.get(scope)) ? first.get(scope) : other.get(scope)};
    }
    function either() {
      const first = both();
      if (!take('or')) return first;
      const other = either();
      return {get: scope => {
        const value = first.get(scope);
        return truth(value) ? value : other.get(scope);
      }};
    }
    function both() {
      const first = negated();
      if (!take('and')) return first;
      const other = both();
      return {get: scope => {
        const value = first.get(scope);
        return truth(value) ? other.get(scope) : value;
      }};
    }
    function negated() {
      if (!take('not')) return compared();
      const inner = negated();
      return {get: scope => !truth(inner.get(scope))};
    }
    function compared() {
      const first = level(0), pairs = [];
      while (is(...COMPARISONS)) {
        const place = word().line;
        let sign = words[at++].text;
        if (sign === 'not') sign = need('in') && 'not in';
        if (sign === 'is' && take('not')) sign = 'is not';
        pairs.push([sign, level(0), place]);
      }
      if (!pairs.length) return first;
      return {get: scope => {
        let left = first.get(scope), result = true;
        for (const [sign, next, place] of pairs) {
          const right = next.get(scope);
          result = on(place, () => compare(sign, left, right))();
          if (pairs.length > 1 && !truth(result)) return result;
          left = right;
        }
        return result;
      }};
    }
    function level(number) {
      if (number === LEVELS.length) return signed();
      let left = level(number + 1);
      while (is(...LEVELS[number])) {
        const {text, line: place} = words[at++], [one, other] = [left, level(number + 1)];
        left = {get: on(place, scope => operate(text, one.get(scope), other.get(scope)))};
      }
      return left;
    }
    function signed() {
      if (!is('-', '+', '~')) return power();
      const {text, line: place} = words[at++], inner = signed();
      return {get: on(place, scope => unary(text, inner.get(scope)))};
    }
    function power() {
      const base = part();
      if (!is('**')) return base;
      const {line: place} = words[at++], exponent = signed();
      return {get: on(place, scope => operate('**', base.get(scope), exponent.get(scope)))};
    }
    function part() {
      let value = atom();
      for (;;) {
        const inner = value, place = word().line;
        if (take('.')) {
          const name = needName();
          value = {base: inner.base, get: on(place, scope => attribute(inner.get(scope), name)), set: (scope, source) => setAttribute(inner.get(scope), name, source), remove: scope => fail(`This page deletes no attribute: ${name}.`, scope)};
        } else if (take('(')) {
          const given = args();
          value = {base: inner.name ? undefined : inner.base, get: on(place, scope => callIt(inner.get(scope), given(scope)))};
        } else if (take('[')) {
          const index = subscript();
          value = {
            base: inner.base,
            get: on(place, scope => getItem(inner.get(scope), index(scope))),
            set: (scope, source) => setItem(inner.get(scope), index(scope), source),
            remove: scope => deleteItem(inner.get(scope), index(scope)),
          };
        } else return value;
      }
    }
    function args() {
      const positional = [], named = [];
      while (!take(')')) {
        if (take('**')) named.push([null, expression()]);
        else if (take('*')) positional.push([true, expression()]);
        else if (word().kind === 'name' && words[at + 1].text === '=' && words[at + 1].kind === 'sign') {
          const name = needName();
          need('=');
          named.push([name, expression()]);
        } else {
          if (named.length) refuse('An argument without a name stands after one with a name.');
          const value = apart(expression);
          positional.push([false, is('for') ? comprehension(value, list => list) : read(value)]);
        }
        if (!is(')')) need(',');
      }
      if (!named.length && !positional.some(([spread]) => spread)) return scope => [positional.map(([, value]) => value.get(scope)), {}];
      return scope => [positional.flatMap(([spread, value]) => spread ? [...items(value.get(scope))] : [value.get(scope)]), Object.fromEntries(named.flatMap(([name, value]) => name === null ? dictOf(value.get(scope)).entries() : [[name, value.get(scope)]]))];
    }
    function subscript() {
      const parts = [];
      let several = false;
      while (!take(']')) {
        parts.push(slice());
        if (!is(']')) several = Boolean(need(','));
      }
      if (!parts.length) refuse('An index is missing between the brackets.');
      return scope => several || parts.length > 1 ? Tuple.from(parts, one => one(scope)) : parts[0](scope);
    }
    function slice() {
      const bounds = [null, null, null];
      let colons = 0;
      while (!is(',', ']')) {
        if (take(':')) colons += 1;
        else bounds[colons] = expression();
        if (colons > 2) refuse('A slice has two colons at most.');
      }
      return colons ? scope => ({slice: bounds.map(bound => bound && bound.get(scope))}) : bounds[0].get;
    }
    function atom() {
      const {kind, text, line: place} = word();
      if (kind === 'number') {
        at += 1;
        const digits = text.replaceAll('_', ''), number = parseFloat(digits);
        const value = /^\d+$/.test(digits) ? BigInt(digits) : digits.endsWith('j') ? new Complex(0, number) : number;
        return {get: () => value};
      }
      if (kind === 'text') {
        const parts = [];
        for (; word().kind === 'text'; at++) parts.push(textOf(word()));
        const isBytes = /^\w?[bB]/.test(text);
        return {get: on(place, scope => isBytes ? new Bytes(parts.map(part => part(scope)).join('')) : parts.map(part => part(scope)).join(''))};
      }
      if (take('...')) return {get: () => Ellipsis};
      if (take('(')) return bracketed();
      if (take('[')) return listed();
      if (take('{')) return dictionaryOrSet();
      if (text === 'super' && words[at + 1].text === '(' && words[at + 2].text === ')') {
        at += 3;
        return {get: on(place, scope => kinds.above(find(scope, '__class__'), find(scope, 'self')))};
      }
      if (kind !== 'name' || KEYWORDS.includes(text)) refuse(text === '=' ? 'Something is missing before “=”.' : kind === 'name' ? `This page does not know “${text}” here.` : `Something is missing before ${shown(word())}.`);
      at += 1;
      if (text in CONSTANTS) return {get: () => CONSTANTS[text]};
      if (!space.makes.has(text)) space.reads.add(text);
      if (word().kind === 'text') refuse(`This page does not know texts like ${text}"…".`);
      return {name: text, base: text, get: on(place, scope => find(scope, text)), set: (scope, value) => void scope.names.set(text, value), remove: scope => void scope.names.delete(text)};
    }
    function textOf({text, line: place}) {  // a function of the scope
      const [, prefix, , inner] = text.match(/^(\w{0,2})("""|'''|"|')([^]*)\2$/), raw = /r/i.test(prefix), plain = text => raw ? text : unescaped(text);
      if (!/f/i.test(prefix)) return () => plain(inner);
      return filledIn(inner, place, plain);
    }
    function filledIn(text, place, plain) {
      const parts = [];
      let rest = text;
      while (rest) {
        const [literal] = rest.match(/^(?:\{\{|\}\}|[^{}])*/);
        parts.push(() => plain(literal).replace(/([{}])\1/g, '$1'));
        rest = rest.slice(literal.length);
        if (!rest) break;
        const end = rest[0] === '{' ? closing(rest) : -1;
        if (end < 0) throw wrongAt(place, 'A curly bracket in this text has no partner.');
        parts.push(field(rest.slice(1, end), place));
        rest = rest.slice(end + 1);
      }
      return scope => parts.map(part => part(scope)).join('');
    }
    function field(inner, place) {  // value!r:spec
      const colon = outside(inner, /^:(?!=)/), code = colon < 0 ? inner : inner.slice(0, colon), [, source, told, how] = code.match(/^([^]*?)(\s*=\s*)?(?:!([rsa]))?$/);
      const hides = told && /[=!<>]$/.test(source), spec = filledIn(colon < 0 ? '' : inner.slice(colon + 1), place, text => text);
      const value = read(parse(`(${hides ? code : source})`, place, true));
      return on(place, scope => {
        const found = value.get(scope), named = told && !hides, shown = how === 'r' || named && colon < 0 && how !== 's' ? repr(found) : how ? str(found) : found;
        return (named ? source + told : '') + format(shown, spec(scope));
      });
    }
    function outside(text, wanted) {  // where it stands, but not within brackets or a text of its own
      let depth = 0, quote = '';
      for (let at = 0; at < text.length; at++) {
        if (quote) quote = text[at] === quote ? '' : quote;
        else if (`'"`.includes(text[at])) quote = text[at];
        else if (!depth && wanted.test(text.slice(at, at + 2))) return at;
        else depth += '([{'.includes(text[at]) ? 1 : ')]}'.includes(text[at]) ? -1 : 0;
      }
      return -1;
    }
    const closing = text => outside(text.slice(1), /^\}/) + 1 || -1;
    function dictionaryOrSet() {
      const pairs = [];
      let isSet = false;
      while (!take('}')) {
        const pair = apart(() => {
          if (!isSet && take('**')) return {all: expression()};
          const key = starred();
          isSet ||= !pairs.length && !is(':');
          return isSet ? key : (need(':'), sequence([key, expression()], Tuple));
        });
        if (is('for')) {
          const made = comprehension(pair, list => isSet ? new Group(list) : new Dict(list));
          need('}');
          return made;
        }
        read(pair);
        pairs.push(pair);
        if (!is('}')) need(',');
      }
      if (isSet) return {get: scope => new Group(sequence(pairs, Array).get(scope))};
      return {get: scope => new Dict(pairs.flatMap(({all, get}) => all ? dictOf(all.get(scope)).entries() : [get(scope)]))};
    }
    function bracketed() {
      if (take(')')) return {get: () => new Tuple()};
      const first = apart(starred);
      if (is('for')) {
        const made = comprehension(first, list => list);
        need(')');
        return made;
      }
      read(first);
      if (take(')')) return first;
      const parts = [first];
      while (take(',') && !is(')')) parts.push(starred());
      need(')');
      return sequence(parts, Tuple);
    }
    function listed() {
      const parts = [];
      while (!take(']')) {
        parts.push(apart(starred));
        if (is('for')) {
          const made = comprehension(parts[0], list => list);
          need(']');
          return made;
        }
        read(parts.at(-1));
        if (!is(']')) need(',');
      }
      return sequence(parts, Array);
    }
    function starred() {
      if (!take('*')) return expression();
      const inner = expression();
      return {starred: inner};
    }
    const sequence = (parts, kind) => ({
      parts: parts.map(one => one.starred ?? one),
      get: scope => kind.from(parts.flatMap(one => one.starred ? [...items(one.starred.get(scope))] : [one.get(scope)])),
      set: (scope, source) => {
        const given = [...items(source)], rest = parts.findIndex(one => one.starred);
        if (rest >= 0 && given.length >= parts.length - 1) given.splice(rest, 0, given.splice(rest, given.length - parts.length + 1));
        if (given.length !== parts.length) fail(`There are ${parts.length} names for ${given.length} value${given.length === 1 ? '' : 's'}.`);
        parts.forEach((one, place) => (one.starred ?? one).set(scope, given[place]));
      },
    });
    function several() {  // what stands after = or return: perhaps a tuple without brackets
      const first = starred();
      if (!is(',')) return first.starred ? sequence([first], Tuple) : first;
      const parts = [first];
      while (take(',') && !['end', 'last'].includes(word().kind) && !is('=', ')', ']', ':', 'in')) parts.push(starred());
      return sequence(parts, Tuple);
    }
    function comprehension(value, finish) {
      const loops = [];
      inside(() => {
        while (take('for')) {
          const target = apart(targets), from = (need('in'), either()), conditions = [];
          make(target);
          while (take('if')) conditions.push(either());
          loops.push([target, from, conditions]);
        }
        read(value);
      });
      return {get: outer => {
        const scope = {names: new Map(), outer}, made = [];
        (function go(number) {
          if (number === loops.length) return void made.push(value.get(scope));
          const [target, from, conditions] = loops[number];
          for (const one of items(from.get(scope))) {
            step();
            target.set(scope, one);
            if (conditions.every(condition => truth(condition.get(scope)))) go(number + 1);
          }
        })(0);
        return finish(made);
      }};
    }
    function targets() {
      const one = () => take('*') ? {starred: part()} : part(), parts = [one()];
      let comma = false;
      while (take(',')) {
        comma = true;
        if (!is('in')) parts.push(one());
      }
      const target = comma ? sequence(parts, Tuple) : parts[0];
      return target.set ? target : refuse('This is nothing that a loop could set.');
    }
    function parameters(end) {
      const names = [];
      let byName = false;
      while (!take(end)) {
        const rest = (take('**') ?? take('*'))?.text;
        if (rest === '*') byName = true;
        if (!(take('/') || rest === '*' && is(',', end))) {  // these only say how others are given
          const name = needName();
          if (end === ')' && take(':')) expression();  // an annotation
          make({base: name});
          names.push([name, take('=') ? expression() : null, rest, byName]);
        }
        if (!is(end)) need(',');
      }
      return names;
    }
    function lambda() {
      need('lambda');
      const [names, body] = inside(() => [parameters(':'), expression()]);
      return {get: scope => functionOf('a lambda', names, scope, inner => ({returned: body.get(inner)}))};
    }

    // --- statements: what they give is undefined, or how they end the block ---

    function block() {
      need(':');
      if (word().kind !== 'end') return simple();
      at += 1;
      if (word().kind !== 'indent') refuse('An indented line is missing here.');
      at += 1;
      const body = [];
      while (word().kind !== 'dedent') body.push(statement());
      at += 1;
      return inOrder(body);
    }
    // A block that yields can be run in steps, too.
    const inOrder = body => Object.assign(scope => {
      for (const one of body) {
        const ended = one(scope);
        if (ended) return ended;
      }
    }, body.some(one => one.steps) && {* steps(scope) {
      for (const one of body) {
        const ended = yield* stepsOf(one, scope);
        if (ended) return ended;
      }
    }});
    function simple() {  // statements on one line
      const begins = at, body = [small()];
      while (take(';') && word().kind !== 'end') body.push(small());
      const {kind, text} = word(), mayFollow = ['name', 'number', 'text'].includes(kind) && !KEYWORDS.includes(text) && at > begins + 1;  // not so after a mistyped “return”
      if (kind !== 'end') refuse(is('=') ? 'This cannot be set.' : `There is something that does not belong here: ${shown(word())}.${mayFollow ? ' A comma or an operator may be missing before it.' : ''}`);
      at += 1;
      return Object.assign(inOrder(body), {shows: body.at(-1).shows, changes: body.at(-1).changes});
    }
    function statement() {
      const place = word().line;
      if (word().kind === 'indent') refuse('This line is indented without a reason.');
      if (take('@')) return decorated();
      if (take('def')) return definition(place);
      if (take('class')) return classDefinition(place);
      if (take('try')) return attempt();
      if (take('if')) return condition();
      if (take('for')) {
        const target = apart(targets), from = (need('in'), several());
        make(target);
        const body = block();
        return loop(scope => (line = place, items(from.get(scope))), (scope, one) => target.set(scope, one), body);
      }
      if (take('while')) {
        const test = expression(), body = block();
        return loop(function* (scope) { while ((line = place, truth(test.get(scope)))) yield; }, () => {}, body);
      }
      if (take('with')) return within();
      return simple();
    }
    function loop(listOf, begin, body) {
      const otherwise = take('else') ? block() : () => undefined;
      return Object.assign(scope => {
        for (const one of listOf(scope)) {
          step();
          begin(scope, one);
          const ended = body(scope);
          if (ended === 'break') return;
          if (ended?.returned !== undefined) return ended;
        }
        return otherwise(scope);
      }, body.steps && {* steps(scope) {
        for (const one of listOf(scope)) {
          step();
          begin(scope, one);
          const ended = yield* stepsOf(body, scope);
          if (ended === 'break') return;
          if (ended?.returned !== undefined) return ended;
        }
        return yield* stepsOf(otherwise, scope);
      }});
    }
    function within() {  // with: what it opens is closed again
      const opened = [];
      do {
        const value = expression();
        opened.push([value, take('as') ? part() : null]);
        if (opened.at(-1)[1]) make(opened.at(-1)[1]);
      } while (take(','));
      const place = word().line, body = block();
      if (body.steps) refuse('This page does not know “yield” within “with”.');
      return scope => {
        const closing = [];
        try {
          for (const [value, target] of opened) {
            line = place;
            const found = value.get(scope);
            if (found !== null && !(found instanceof Instance)) fail(`${kindOf(found)} is nothing that this page can open by “with”.`.replace(/^a/, 'A'));
            const entered = found && attribute(found, '__enter__')([], {});
            if (found) closing.unshift(attribute(found, '__exit__'));
            target?.set(scope, entered);
          }
          return body(scope);
        } finally {
          closing.forEach(close => close([null, null, null], {}));
        }
      };
    }
    function attempt() {  // try: what the code raises is caught; what this page itself says is not, since Python says it in other words
      const body = block(), handlers = [];
      while (take('except')) {
        const kinds = is(':') ? null : expression(), name = take('as') ? needName() : null;
        if (name) make({base: name});
        handlers.push([kinds, name, block()]);
      }
      const otherwise = take('else') ? block() : () => undefined, last = take('finally') ? block() : () => undefined;
      if ([body, otherwise, last, ...handlers.map(([, , block]) => block)].some(one => one.steps)) refuse('This page does not know “yield” within “try”.');
      return scope => {
        try {
          let raised = null;
          try {
            const ended = body(scope);
            if (ended) return ended;
          } catch (error) {
            raised = error;
          }
          if (!raised) return otherwise(scope);
          const found = raised.raised && handlers.find(([kinds]) => !kinds || [kinds.get(scope)].flat().some(one => library.isOf(raised.raised, one)));
          if (!found) throw raised;
          if (found[1]) scope.names.set(found[1], raised.raised);
          return found[2](scope);
        } finally {
          last(scope);
        }
      };
    }
    function decorated() {
      const place = word().line, decorator = expression();
      if (word().kind !== 'end') refuse('A decorator stands on a line of its own.');
      at += 1;
      const defined = statement();
      if (!defined.defines) refuse('A function or a class is missing below “@”.');
      return Object.assign(scope => {
        const change = (line = place, decorator.get(scope));
        defined(scope);
        if (change !== null) scope.names.set(defined.defines, callIt(change, [[scope.names.get(defined.defines)], {}]));
      }, {defines: defined.defines});
    }
    function classDefinition(place) {
      const name = needName(), bases = take('(') ? args() : () => [[]];
      make({base: name});
      const body = inside(block);
      return Object.assign(scope => {
        line = place;
        const around = {names: new Map(), outer: scope}, made = kinds.make(name, bases(scope)[0]);
        around.names.set('__class__', made);
        made.annotated = [];
        body({names: made.members, outer: around, annotated: made.annotated});
        scope.names.set(name, made);
      }, {defines: name});
    }
    function condition() {
      const test = expression(), body = block();
      const other = take('elif') ? condition() : take('else') ? block() : () => undefined, chosen = scope => truth(test.get(scope)) ? body : other;
      return Object.assign(scope => chosen(scope)(scope), (body.steps || other.steps) && {* steps(scope) { return yield* stepsOf(chosen(scope), scope); }});
    }
    function definition(place) {
      const name = needName();
      make({base: name});
      const [names, body] = inside(() => {
        const names = (need('('), parameters(')'));
        if (take('->')) expression();
        return [names, block()];
      });
      return Object.assign(scope => {
        line = place;
        scope.names.set(name, functionOf(name, names, scope, body));
      }, {defines: name});
    }
    function small() {
      const place = word().line, at_ = get => scope => {
        line = place;
        step();
        return get(scope);
      };
      if (take('pass')) return () => undefined;
      if (take('break')) return () => 'break';
      if (take('continue')) return () => 'continue';
      if (take('return')) {
        const value = word().kind === 'end' || is(';') ? {get: () => null} : several();
        return at_(scope => ({returned: value.get(scope) ?? null}));
      }
      if (take('raise')) {
        if (word().kind === 'end') return at_(() => fail('This page raises nothing again.'));
        const empty = is('NotImplementedError'), error = expression();
        if (take('from')) expression();
        return at_(scope => { throw raise(error.get(scope), empty); });
      }
      if (take('yield')) {
        const all = take('from'), value = several();
        return Object.assign(() => fail('“yield” stands outside a function.'), {* steps(scope) {
          line = place;
          step();
          if (!all) return void (yield value.get(scope));
          for (const one of items(value.get(scope))) yield one;
        }});
      }
      if (take('del')) {
        const gone = several(), all = gone.parts ?? [gone];
        if (!all.every(one => one.remove)) refuse('This cannot be deleted.');
        return at_(scope => all.forEach(one => one.remove(scope)));
      }
      if (take('assert')) {
        const test = expression();
        const said = take(',') ? expression() : null;
        return at_(scope => { if (!truth(test.get(scope))) throw Object.assign(raise(callIt(builtins.AssertionError, [said ? [said.get(scope)] : [], {}])), said ? {} : {message: 'This assert is not true.'}); });
      }
      if (is('import', 'from')) return imported();
      if (word().kind === 'name' && KEYWORDS.includes(word().text) && !is('not', 'lambda')) refuse(`This page does not know “${word().text}”.`);
      const first = apart(several);
      if (word().kind === 'sign' && /^(?:\*\*|\/\/|[-+*/%@&|^])=$/.test(word().text)) {
        const sign = words[at++].text.slice(0, -1), value = several();
        if (!first.set) refuse('This cannot be set.');
        make(read(first));
        return at_(scope => first.set(scope, inPlace(sign, first.get(scope), value.get(scope))));
      }
      if (word().kind === 'sign' && is(':') && first.name) {  // an annotation
        at += 1;
        expression();
        const note = scope => void scope.annotated?.push(first.name);
        if (!take('=')) return note;
        const value = several();
        make(first);
        return at_(scope => {
          note(scope);
          first.set(scope, value.get(scope));
        });
      }
      const chain = [first];
      if (!is('=')) return read(first), Object.assign(at_(scope => { lastValue = first.get(scope); }), {shows: true, changes: first.base});
      while (take('=')) chain.push(apart(several));
      const value = read(chain.pop());
      for (const target of chain) if (!target.set) refuse('What stands before “=” cannot be set.');
      make(...chain);
      return at_(scope => {
        const source = value.get(scope);
        for (const target of chain) target.set(scope, source);
      });
    }
    function imported() {
      const place = word().line, text = [];
      while (word().kind !== 'end') text.push(words[at++].text);
      const [, from, all = ''] = text.join(' ').match(/^(?:from ([\w. ]+) )?import ([\w., ]+)$/) ?? [];
      const named = all.split(',').map(one => {
        const [path, as] = one.trim().split(' as '), full = `${from ? `${from}.` : ''}${path}`.replaceAll(' ', ''), [root] = full.split('.');
        const known = held(full) && (from || as || held(root));
        const module = from?.replaceAll(' ', '');
        if (theCourse && !known && module && held(module)) return [as ?? path, () => attribute(held(module), path)];
        if (!known) strange.add((module ?? full).split('.')[0] === 'transformer_lessons' ? 'transformer_lessons' : module ?? full);
        if (theCourse && (!known || full.startsWith('transformer_lessons'))) return [as ?? (from ? path : root), () => theCourse(from || as ? full : root)];  // in a lesson
        if (!known) throw wrongAt(place, 'This page imports only torch, torch.nn, torch.nn.functional, numpy and math.');
        return [as ?? (from ? path : root), () => held(from || as ? full : root)];
      });
      named.forEach(([name]) => make({base: name}));
      imports.push(...named.map(([name]) => name));
      return scope => named.forEach(([name, value]) => scope.names.set(name, value()));
    }

    if (isExpression) {
      const value = several();
      return ['end', 'last'].includes(word().kind) ? Object.assign(value, {reads: space.reads}) : refuse(`There is something that does not belong here: ${shown(word())}.`);
    }
    const body = [];
    while (word().kind !== 'last') body.push(statement());
    return Object.assign(inOrder(body), {shows: body.at(-1)?.shows, reads: space.reads, makes: space.makes, changes: body.flatMap(({changes}) => changes ?? []), imports, strange});
  }

  function* stepsOf(one, scope) { return one.steps ? yield* one.steps(scope) : one(scope); }
  function raise(error, empty = false) {
    const raised = error?.find?.('__str__') ? callIt(error, [[], {}]) : error, said = raised instanceof Instance ? str(raised) : fail('Only errors can be raised.');
    return Object.assign(new Fault(said ? `${raised.kind.title}: ${said}` : 'The code raises an error itself.'), {empty, raised});
  }

  // --- names and calls ---

  const LOST = Symbol('made where this page cannot run it');

  function find(scope, name) {
    for (let inner = scope; inner; inner = inner.outer) {
      const found = inner.names.get(name);
      if (found === LOST) fail(`${name} is made by a cell that this page cannot run.`);
      if (found !== undefined) return found;
    }
    if (Object.hasOwn(modules, name)) return modules[name];
    if (Object.hasOwn(builtins, name)) return builtins[name];
    const names = [...Object.keys(modules), ...Object.keys(builtins)];
    for (let inner = scope; inner; inner = inner.outer) names.push(...inner.names.keys());
    if (earlier.includes(name)) fail(`${name} is an exercise: solve it here first, and then you can call it.`);
    return fail(`Nothing here is called “${name}”.${nearest(name, names)}`);
  }
  function compare(sign, one, other) {
    if (sign === 'is' || sign === 'is not') return (one === other) === (sign === 'is');
    if (sign === 'in' || sign === 'not in') return contains(other, one) === (sign === 'in');
    return operate(sign, one, other);
  }
  const dictOf = value => value instanceof Dict ? value : fail(`“**” needs a dictionary, not ${kindOf(value)}.`);
  function callIt(called, [args, keywords]) {
    step();
    if (called instanceof Instance) return attribute(called, '__call__')(args, keywords) ?? null;
    if (typeof called !== 'function') fail(`${kindOf(called)} cannot be called.`.replace(/^a/, 'A'));
    return called(args, keywords) ?? null;
  }
  function functionOf(name, parameters, outer, body) {
    if (outer.annotated) outer = outer.outer;  // a method does not see the names of its class
    const defaults = Object.fromEntries(parameters.map(([parameter, value]) => [parameter, value && {value: value.get(outer)}]));
    const own = parameters.filter(([, , rest]) => !rest).map(([name]) => name), [others, keywordsLeft] = ['*', '**'].map(sign => parameters.find(([, , rest]) => rest === sign)?.[0]);
    const most = parameters.filter(([, , rest, byName]) => !rest && !byName).length;
    return Object.assign((args, keywords) => {
      const names = new Map();
      if (args.length > most && !others) fail(`${name} takes ${most} argument${most === 1 ? '' : 's'}, and it is given ${args.length}.`);
      own.forEach((parameter, at) => {
        const given = at < Math.min(most, args.length) ? {value: args[at]} : Object.hasOwn(keywords, parameter) ? {value: keywords[parameter]} : defaults[parameter];
        names.set(parameter, (given ?? fail(`${name} needs “${parameter}”.`)).value);
      });
      const strangers = Object.entries(keywords).filter(([keyword]) => !own.includes(keyword));
      if (strangers.length && !keywordsLeft) fail(`${name} has no parameter “${strangers[0][0]}”.`);
      if (others) names.set(others, Tuple.from(args.slice(most)));
      if (keywordsLeft) names.set(keywordsLeft, new Dict(strangers));
      if (++depth > 200) fail(`${name} calls itself without end.`);
      try {
        return body.steps ? library.iterator(body.steps({names, outer})) : body({names, outer})?.returned ?? null;
      } finally {
        depth -= 1;
      }
    }, {title: name, isMethod: true});
  }

  function scopeThatPrints(printed) {  // into a list of texts
    const print = (args, {sep = ' ', end = '\n'}) => void printed.push(args.map(str).join(sep ?? ' ') + (end ?? '\n'));
    return {names: new Map([['print', print]]), outer: null};
  }
  function guarded(action, printed) {
    [steps, depth] = [0, 0];
    printed.length = 0;
    try {
      return {value: action(), printed: [...printed]};
    } catch (error) {
      const fault = error instanceof Fault ? error : new Fault(error instanceof RangeError ? 'This goes too deep, or becomes too large, for this page.' : 'This page cannot run this: a value here is of a kind that it does not expect.');
      return {fault: fault.message, line: fault.line ?? line, empty: Boolean(fault.empty), endless: Boolean(fault.endless), printed: [...printed]};
    }
  }

  // Runs code, and calls the function that it defines, with each of the lists of arguments: [{value, printed} or {fault, line}];
  // one fault that is `early` if there is nothing to call. Of what was solved before, that is run which the source names.
  function run(source, name, calls, {gradients = false, solved = {}, ...told} = {}) {
    const printed = [], scope = scopeThatPrints(printed);
    library.ask(gradients, name);
    [earlier, theCourse, mostSteps] = [told.earlier ?? [], null, 100000];
    Object.assign(tensors.limits, {numbers: 3e5, products: 2e7});
    until = Date.now() + MOST_SECONDS * 1000;
    const before = (source, known) => {
      for (const other of named(source)) {
        if (!Object.hasOwn(solved, other) || known.has(other)) continue;
        known.add(other);
        before(solved[other], known);
        parse(solved[other])(scope);
      }
    };
    const ready = guarded(() => {
      line = 1;
      before(source, new Set([name]));
      line = 1;
      parse(source)(scope);
      const found = scope.names.get(name);
      return typeof found === 'function' ? found : fail(`There is no function called ${name}: the line “def ${name}(…):” is missing.`);
    }, printed);
    if (ready.fault !== undefined) return [{...ready, early: true}];
    const results = [];
    for (const args of calls) if (!results.at(-1)?.endless) results.push(guarded(() => ready.value(args, {}), printed));
    return results;
  }
  const named = source => new Set(wordsOf(source).flatMap(({kind, text}) => kind === 'text' && /^f/i.test(text) ? text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) : kind === 'name' ? [text] : []));

  // --- the cells of a lesson, which share their names; `imports` says what the lesson's package holds under a name ---

  const parsed = new Map();  // what the package holds is needed again with every cell
  function parseOnce(source, first) {
    const name = `${first} ${source}`;
    if (!parsed.has(name)) parsed.set(name, parse(source, first));
    return parsed.get(name);
  }
  function study(source) {  // the names that a cell reads, makes, may change by a method and imports; null if it is no Python
    theCourse = () => null;
    try {
      const {reads, makes, changes, imports, strange} = parseOnce(source, 1);
      return {reads, makes, changes, imports, strange};
    } catch {
      return null;
    }
  }
  const asPackage = called => {  // a fault in it is one of the line that calls it
    if (called.members && !called.wrapped) {
      called.members.forEach((one, name) => called.members.set(name, one === null ? one : asPackage(one)));
      called.wrapped = true;
    }
    return called.members || typeof called !== 'function' ? called : Object.assign((args, named) => {
      const place = line;
      try {
        return called(args, named);
      } catch (error) {
        line = place;
        throw error;
      }
    }, called);
  };
  function session(imports) {
    const printed = [], scope = scopeThatPrints(printed);
    chance.begin();
    return {
      lose: name => scope.names.set(name, LOST),
      give: (name, value) => scope.names.set(name, value),
      taken: name => scope.names.get(name) && asPackage(scope.names.get(name)),
      // {value, printed}, of which the value is that of a last line that is an expression, or {fault, line}
      run(source, first = 1) {
        library.ask(false, '');
        [earlier, theCourse, line, mostSteps] = [[], imports, first, 3e6];
        Object.assign(tensors.limits, {numbers: 3e6, products: 1e8});
        until = Date.now() + MOST_SECONDS_OF_A_CELL * 1000;
        return guarded(() => {
          const code = parseOnce(source, first);
          lastValue = null;
          code(scope);
          return code.shows ? lastValue : null;
        }, printed);
      },
    };
  }
  return {run, study, session};
})();
