// A small part of Python: what an answer of a few lines needs. Each piece of the code that is typed becomes a function.
globalThis.python = (() => {
  const {Fault, Tuple, Complex, Ellipsis, fail} = tensors;
  const {modules, course, cmath, builtins, operate, unary, inPlace, truth, attribute, items, getItem, setItem, repr, kindOf, nearest} = library;
  const MOST_STEPS = 100000, MOST_SECONDS = 8;
  let line = 0, steps = 0, until = 0, depth = 0, earlier = [];  // exercises before this one

  function step() {
    steps += 1;
    if (steps > MOST_STEPS || steps % 20 === 0 && Date.now() > until) throw Object.assign(new Fault('This takes too long: is there a loop that never ends?'), {endless: true});
  }

  // --- words ---

  const WORD = /(?<blank>[ \t\f]+|#[^\n]*|\\\r?\n)|(?<end>\r?\n)|(?<number>(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d+)?j?)|(?<text>"""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<sign>\*\*=|\/\/=|\.\.\.|->|:=|\*\*|\/\/|<<|>>|[-+*/%@&|^<>=!]=|[-+*/%@&|^~<>=()[\]{},:.;])/uy;
  function wordsOf(source) {
    const words = [], indents = [0];
    let at = 0, row = 1, open = 0, fresh = true;
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
        fresh = true;
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
  const wrongAt = (at, message) => Object.assign(new Fault(message), {line: at});

  // --- what they mean: `get` gives a value, `set` takes one ---

  const KEYWORDS = ['and', 'as', 'assert', 'break', 'class', 'continue', 'def', 'del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is', 'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield', 'async', 'await', 'match'];
  const IMPORTED = {torch: modules.torch, numpy: modules.np, math: modules.math, cmath, 'torch.nn': modules.nn, 'torch.nn.functional': modules.F,
    'transformer_lessons.attention': course.attention, 'transformer_lessons.masks': course.masks};
  const CONSTANTS = {None: null, True: true, False: false};
  const LEVELS = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '//', '%', '@']];
  const COMPARISONS = ['==', '!=', '<', '>', '<=', '>=', 'in', 'is', 'not'];

  function parse(source) {
    const words = wordsOf(source);
    let at = 0;
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
          value = {get: on(place, scope => attribute(inner.get(scope), name)), set: () => fail('This page changes no attribute.')};
        } else if (take('(')) {
          const given = args();
          value = {get: on(place, scope => callIt(inner.get(scope), given(scope)))};
        } else if (take('[')) {
          const index = subscript();
          value = {
            get: on(place, scope => getItem(inner.get(scope), index(scope))),
            set: (scope, source) => setItem(inner.get(scope), index(scope), source),
          };
        } else return value;
      }
    }
    function args() {
      const positional = [], named = [];
      while (!take(')')) {
        if (is('**')) refuse('This page does not know “**” before an argument.');
        if (take('*')) positional.push([true, expression()]);
        else if (word().kind === 'name' && words[at + 1].text === '=' && words[at + 1].kind === 'sign') {
          const name = needName();
          need('=');
          named.push([name, expression()]);
        } else {
          if (named.length) refuse('An argument without a name stands after one with a name.');
          const value = expression();
          positional.push([false, is('for') ? comprehension(value, list => list) : value]);
        }
        if (!is(')')) need(',');
      }
      return scope => [positional.flatMap(([spread, value]) => spread ? [...items(value.get(scope))] : [value.get(scope)]), Object.fromEntries(named.map(([name, value]) => [name, value.get(scope)]))];
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
        let value = '';
        for (; word().kind === 'text'; at++) value += word().text.replace(/^("""|'''|"|')([^]*)\1$/, '$2');
        return {get: () => value};
      }
      if (take('...')) return {get: () => Ellipsis};
      if (take('(')) return bracketed();
      if (take('[')) return listed();
      if (is('{')) refuse('This page does not know sets and dictionaries.');
      if (kind !== 'name' || KEYWORDS.includes(text)) refuse(text === '=' ? 'Something is missing before “=”.' : kind === 'name' ? `This page does not know “${text}” here.` : `Something is missing before ${shown(word())}.`);
      at += 1;
      if (text in CONSTANTS) return {get: () => CONSTANTS[text]};
      if (word().kind === 'text') refuse(`This page does not know texts with a letter before the quotation mark, such as ${text}"…".`);
      return {name: text, get: on(place, scope => find(scope, text)), set: (scope, value) => void scope.names.set(text, value)};
    }
    function bracketed() {
      if (take(')')) return {get: () => new Tuple()};
      const first = starred();
      if (is('for')) {
        const made = comprehension(first, list => list);
        need(')');
        return made;
      }
      if (take(')')) return first;
      const parts = [first];
      while (take(',') && !is(')')) parts.push(starred());
      need(')');
      return sequence(parts, Tuple);
    }
    function listed() {
      const parts = [];
      while (!take(']')) {
        parts.push(starred());
        if (is('for')) {
          const made = comprehension(parts[0], list => list);
          need(']');
          return made;
        }
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
      get: scope => kind.from(parts.flatMap(one => one.starred ? [...items(one.starred.get(scope))] : [one.get(scope)])),
      set: (scope, source) => {
        const given = [...items(source)];
        if (given.length !== parts.length) fail(`There are ${parts.length} names for ${given.length} value${given.length === 1 ? '' : 's'}.`);
        parts.forEach((one, place) => (one.set ?? (() => fail('This page does not know “*” before a name that is set.')))(scope, given[place]));
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
      while (take('for')) {
        const target = targets(), from = (need('in'), either()), conditions = [];
        while (take('if')) conditions.push(either());
        loops.push([target, from, conditions]);
      }
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
      const parts = [part()];
      let comma = false;
      while (take(',')) {
        comma = true;
        if (!is('in')) parts.push(part());
      }
      const target = comma ? sequence(parts, Tuple) : parts[0];
      return target.set ? target : refuse('This is nothing that a loop could set.');
    }
    function parameters(end) {
      const names = [];
      while (!take(end)) {
        if (is('*', '**', '/')) refuse(`This page does not know “${word().text}” among the parameters.`);
        const name = needName();
        if (end === ')' && take(':')) expression();  // an annotation
        names.push([name, take('=') ? expression() : null]);
        if (!is(end)) need(',');
      }
      return names;
    }
    function lambda() {
      need('lambda');
      const names = parameters(':'), body = expression();
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
    const inOrder = body => scope => {
      for (const one of body) {
        const ended = one(scope);
        if (ended) return ended;
      }
    };
    function simple() {  // statements on one line
      const body = [small()];
      while (take(';') && word().kind !== 'end') body.push(small());
      if (word().kind !== 'end') refuse(is('=') ? 'This cannot be set.' : `There is something that does not belong here: ${shown(word())}.`);
      at += 1;
      return inOrder(body);
    }
    function statement() {
      const place = word().line;
      if (word().kind === 'indent') refuse('This line is indented without a reason.');
      if (take('def')) return definition(place);
      if (take('if')) return condition();
      if (take('for')) {
        const target = targets(), from = (need('in'), several()), body = block();
        return scope => {
          line = place;
          return loop(items(from.get(scope)), one => {
            target.set(scope, one);
            return body(scope);
          });
        };
      }
      if (take('while')) {
        const test = expression(), body = block();
        return scope => loop((function* () { while ((line = place, truth(test.get(scope)))) yield; })(), () => body(scope));
      }
      if (take('with')) {
        if (!is('np')) refuse('This page knows “with” only before np.errstate.');
        const inside = expression(), body = block();
        return scope => (inside.get(scope), body(scope));
      }
      return simple();
    }
    function loop(list, body) {
      for (const one of list) {
        step();
        const ended = body(one);
        if (ended === 'break') break;
        if (ended?.returned !== undefined) return ended;
      }
    }
    function condition() {
      const test = expression(), body = block();
      const other = take('elif') ? condition() : take('else') ? block() : () => undefined;
      return scope => truth(test.get(scope)) ? body(scope) : other(scope);
    }
    function definition(place) {
      const name = needName(), names = (need('('), parameters(')'));
      if (take('->')) expression();
      const body = block();
      return scope => {
        line = place;
        scope.names.set(name, functionOf(name, names, scope, body));
      };
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
        const empty = is('NotImplementedError');
        while (word().kind !== 'end') at += 1;
        return at_(() => { throw Object.assign(new Fault('The code raises an error itself.'), {empty}); });
      }
      if (take('assert')) {
        const test = expression();
        if (take(',')) expression();
        return at_(scope => { if (!truth(test.get(scope))) fail('This assert is not true.'); });
      }
      if (is('import', 'from')) return imported();
      if (word().kind === 'name' && KEYWORDS.includes(word().text) && !is('not', 'lambda')) refuse(`This page does not know “${word().text}”.`);
      const first = several();
      if (word().kind === 'sign' && /^(?:\*\*|\/\/|[-+*/%@&|^])=$/.test(word().text)) {
        const sign = words[at++].text.slice(0, -1), value = several();
        if (!first.set) refuse('This cannot be set.');
        return at_(scope => first.set(scope, inPlace(sign, first.get(scope), value.get(scope))));
      }
      if (word().kind === 'sign' && is(':') && first.name) {  // an annotation
        at += 1;
        expression();
      }
      const chain = [first];
      while (take('=')) chain.push(several());
      const value = chain.pop();
      for (const target of chain) if (!target.set) refuse('What stands before “=” cannot be set.');
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
        const known = Object.hasOwn(IMPORTED, full) && (from || as || Object.hasOwn(IMPORTED, root));
        if (!known) throw wrongAt(place, 'This page imports only torch, torch.nn, torch.nn.functional, numpy and math.');
        return [as ?? (from ? path : root), from || as ? IMPORTED[full] : IMPORTED[root]];
      });
      return scope => named.forEach(([name, value]) => scope.names.set(name, value));
    }

    const body = [];
    while (word().kind !== 'last') body.push(statement());
    return inOrder(body);
  }

  // --- names and calls ---

  function find(scope, name) {
    for (let inner = scope; inner; inner = inner.outer) if (inner.names.has(name)) return inner.names.get(name);
    if (Object.hasOwn(modules, name)) return modules[name];
    if (Object.hasOwn(builtins, name)) return builtins[name];
    const names = [...Object.keys(modules), ...Object.keys(builtins)];
    for (let inner = scope; inner; inner = inner.outer) names.push(...inner.names.keys());
    if (earlier.includes(name)) fail(`${name} is an exercise: solve it here first, and then you can call it.`);
    return fail(`Nothing here is called “${name}”.${nearest(name, names)}`);
  }
  function compare(sign, one, other) {
    if (sign === 'is' || sign === 'is not') return (one === other) === (sign === 'is');
    if (sign === 'in' || sign === 'not in') return [...items(other)].some(item => truth(operate('==', item, one))) === (sign === 'in');
    return operate(sign, one, other);
  }
  function callIt(called, [args, keywords]) {
    step();
    if (typeof called !== 'function') fail(`${kindOf(called)} cannot be called.`.replace(/^a/, 'A'));
    return called(args, keywords) ?? null;
  }
  function functionOf(name, parameters, outer, body) {
    const defaults = parameters.map(([, value]) => value && {value: value.get(outer)});
    return (args, keywords) => {
      const names = new Map(), own = parameters.map(([name]) => name);
      if (args.length > own.length) fail(`${name} takes ${own.length} argument${own.length === 1 ? '' : 's'}, and it is given ${args.length}.`);
      own.forEach((parameter, at) => {
        const given = at < args.length ? {value: args[at]} : Object.hasOwn(keywords, parameter) ? {value: keywords[parameter]} : defaults[at];
        names.set(parameter, (given ?? fail(`${name} needs “${parameter}”.`)).value);
      });
      const stranger = Object.keys(keywords).find(keyword => !own.includes(keyword));
      if (stranger) fail(`${name} has no parameter “${stranger}”.`);
      if (++depth > 200) fail(`${name} calls itself without end.`);
      try {
        return body({names, outer})?.returned ?? null;
      } finally {
        depth -= 1;
      }
    };
  }

  // Runs code, and calls the function that it defines, with each of the lists of arguments: [{value, printed} or {fault, line}];
  // one fault that is `early` if there is nothing to call. Of what was solved before, that is run which the source names.
  function run(source, name, calls, {gradients = false, solved = {}, ...told} = {}) {
    let printed = [];
    const scope = {names: new Map([['print', args => void printed.push(args.map(value => typeof value === 'string' ? value : repr(value)).join(' '))]]), outer: null};
    const guarded = action => {
      [steps, depth, printed] = [0, 0, []];
      try {
        return {value: action(), printed};
      } catch (error) {
        const fault = error instanceof Fault ? error : new Fault(error instanceof RangeError ? 'This goes too deep, or becomes too large, for this page.' : 'This page cannot run this: a value here is of a kind that it does not expect.');
        return {fault: fault.message, line: fault.line ?? line, empty: Boolean(fault.empty), endless: Boolean(fault.endless), printed};
      }
    };
    library.ask(gradients, name);
    earlier = told.earlier ?? [];
    until = Date.now() + MOST_SECONDS * 1000;
    const named = source => new Set(wordsOf(source).flatMap(({kind, text}) => kind === 'name' ? [text] : []));
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
    });
    if (ready.fault !== undefined) return [{...ready, early: true}];
    const results = [];
    for (const args of calls) if (!results.at(-1)?.endless) results.push(guarded(() => ready.value(args, {})));
    return results;
  }
  return {run};
})();
