// Classes, what is made of them, and the errors that code may raise.
globalThis.kinds = (() => {
  const {Instance, fail} = tensors;

  function make(title, bases = []) {
    if (!bases.every(base => base?.members)) fail(`${title} is built on something of which this page makes no classes.`);
    const made = (args, named) => {
      const one = new Instance(made), begin = made.find('__init__');
      if (begin) begin([one, ...args], named);
      else if (args.length || Object.keys(named).length) fail(`${title} takes no arguments.`);
      return one;
    };
    const members = new Map(), within = name => members.has(name) ? {found: members.get(name)} : bases.map(base => base.within(name)).find(Boolean);
    return Object.assign(made, {title, bases, members, within, find: name => within(name)?.found, is: other => other === made || bases.some(base => base.is(other))});
  }

  const bound = (found, one) => {  // as it is read from an instance
    if (found?.ofKind) return bound(found.ofKind, one instanceof Instance ? one.kind : one);
    if (found?.property) return found.property([one], {});
    if (found?.plain) return found.plain;
    return typeof found === 'function' && found.isMethod ? Object.assign((args, named) => found([one, ...args], named), {title: found.title}) : found;
  };
  function attribute(one, name) {  // undefined if there is none
    if (one.above) return name === '__init__' && !one.above.some(base => base.within(name)) ? () => null : bound(one.above.map(base => base.within(name)).find(Boolean)?.found, one.one);
    if (!(one instanceof Instance)) {  // a class
      const found = one.find(name);
      return name === '__name__' ? one.title : found?.ofKind ? bound(found, one) : found?.plain ?? found;
    }
    return name === '__class__' ? one.kind : one.fields.has(name) ? one.fields.get(name) : bound(one.kind.find(name), one);
  }
  function setAttribute(one, name, value) {
    if (one.kind?.frozen) fail(`A ${one.kind.title} is frozen: it cannot be changed.`);
    (one.fields ?? one.members).set(name, value);
  }
  const above = (kind, one) => ({above: kind.bases, one});  // super()

  // A class whose methods are written here: `self` and the arguments, and those with names.
  function native(title, bases, methods) {
    const made = make(title, bases);
    for (const [name, method] of Object.entries(methods))
      made.members.set(name, typeof method === 'function' ? Object.assign((args, named) => method(...args.slice(0, 1), args.slice(1), named) ?? null, {title: name, isMethod: true}) : method);
    return made;
  }

  const errors = {};
  errors.Exception = native('Exception', [], {
    __init__: (self, args) => { self.fields.set('args', tensors.Tuple.from(args)); },
    __str__: self => self.fields.get('args').length === 1 ? printing.str(self.fields.get('args')[0]) : self.fields.get('args').length ? printing.str(self.fields.get('args')) : '',
    __repr__: self => `${self.kind.title}(${Array.from(self.fields.get('args'), printing.repr).join(', ')})`,
  });
  for (const name of ['ArithmeticError', 'AssertionError', 'AttributeError', 'ImportError', 'IndexError', 'KeyError', 'LookupError', 'NameError', 'NotImplementedError', 'OSError', 'OverflowError',
    'RuntimeError', 'StopIteration', 'SystemExit', 'TypeError', 'UnicodeError', 'ValueError', 'ZeroDivisionError'])
    errors[name] = native(name, [errors.Exception], {});
  errors.KeyError.members.set('__str__', Object.assign(([self]) => printing.repr(self.fields.get('args')[0] ?? ''), {isMethod: true}));

  return {make, native, attribute, setAttribute, above, errors};
})();
