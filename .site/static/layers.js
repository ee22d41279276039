// Layers that only compute: nn.Module and what lessons build on it. No gradients here.
(() => {
  const {Instance, Tensor, Dict, Tuple, fail, filled, copy, matmul, swap, write, part, values} = tensors;
  const {modules, operate, known, define, items, whole, number: float, attribute, getItem, truth} = library;
  const isModule = one => one instanceof Instance && one.kind.is(Module), isParameter = one => one instanceof Tensor && one.parameter;
  const parameter = tensor => Object.assign(copy(tensor), {parameter: true});
  const fieldsOf = (one, wanted) => [...one.fields].filter(([, field]) => wanted(field)), dotted = (first, name) => first ? `${first}.${name}` : name;
  const all = (one, first = '') => [[first, one], ...fieldsOf(one, isModule).flatMap(([name, field]) => all(field, dotted(first, name)))];
  const held = (one, wanted = isParameter) => [...new Map(all(one).flatMap(([first, module]) => fieldsOf(module, wanted).map(([name, field]) => [field, dotted(first, name)])))].map(([field, name]) => [name, field]);
  const pairs = list => list.map(pair => Tuple.from(pair)), isKept = one => one instanceof Tensor && (one.parameter || one.kept);
  const inMode = (one, training) => {
    all(one).forEach(([, module]) => module.fields.set('training', training));
    return one;
  };
  const Module = kinds.native('Module', [], {
    training: true,
    __init__: () => null,
    __call__: (self, args, named) => attribute(self, 'forward')(args, named),
    eval: self => inMode(self, false), train: (self, [mode = true]) => inMode(self, truth(mode)),
    parameters: self => held(self).map(([, one]) => one), named_parameters: self => pairs(held(self)),
    modules: self => all(self).map(([, one]) => one), named_modules: self => pairs(all(self)),
    children: self => fieldsOf(self, isModule).map(([, one]) => one), named_children: self => pairs(fieldsOf(self, isModule)),
    register_buffer: (self, [name, tensor], {persistent = true}) => void self.fields.set(name, tensor instanceof Tensor ? Object.assign(copy(tensor), {kept: truth(persistent)}) : tensor),
    state_dict: self => new Dict(held(self, isKept)),
    load_state_dict: (self, [state]) => {
      const own = held(self, isKept);
      own.forEach(([name]) => { if (!state.has(name)) fail(`load_state_dict: “${name}” is missing.`); });
      own.forEach(([name, one]) => { String(one.shape) === String(state.get(name).shape) ? write(one, state.get(name)) : fail(`load_state_dict: the shape of “${name}” differs.`); });
    },
    requires_grad_: self => self, to: self => self, float: self => self, double: self => self,
    apply: (self, [change]) => {
      all(self).reverse().forEach(([, one]) => change([one], {}));
      return self;
    },
    get_submodule: (self, [path]) => path.split('.').reduce((one, name) => attribute(one, name), self),
  });
  const nn = Object.assign(modules.nn, {Module, Parameter: ([tensor]) => parameter(tensor)});
  const layer = (title, names, begin, forward) => {  // names of its arguments, "?" if they may be left out
    nn[title] = kinds.native(title, [Module], {
      __init__: (self, args, named) => {
        const own = names.map(name => name.replace('?', ''));
        Object.keys(named).forEach(name => { if (!own.includes(name)) fail(`nn.${title} has no argument “${name}” here.`); });
        if (args.length > own.length) fail(`nn.${title} takes ${own.length} argument${own.length === 1 ? '' : 's'} at most here.`);
        const given = own.map((name, at) => at < args.length ? args[at] : named[name] !== undefined ? named[name] : names[at].endsWith('?') ? undefined : fail(`nn.${title} needs “${name}”.`));
        Object.entries(begin(...given)).forEach(([name, field]) => self.fields.set(name, field));
      },
      forward: (self, args) => forward(name => self.fields.get(name), ...args),
    });
  };
  const sizes = (...given) => given.map(size => BigInt(whole(size)));
  layer('Linear', ['in_features', 'out_features', 'bias?'], (inputs, outputs, bias = true) => {
    const [before, after] = [whole(inputs), whole(outputs)], most = 1 / Math.sqrt(before), weight = parameter(chance.uniform([after, before], most));
    const [in_features, out_features] = sizes(inputs, outputs);
    return {in_features, out_features, weight, bias: truth(bias) ? parameter(chance.uniform([after], most)) : null};
  }, (own, x) => own('bias') ? operate('+', matmul(x, swap(own('weight'), 0, 1)), own('bias')) : matmul(x, swap(own('weight'), 0, 1)));
  layer('Identity', [], () => ({}), (own, x) => x);
  layer('Embedding', ['num_embeddings', 'embedding_dim'], (many, size) => {
    const [num_embeddings, embedding_dim] = sizes(many, size);
    return {num_embeddings, embedding_dim, weight: parameter(chance.normal([whole(many), whole(size)]))};
  }, (own, x) => {
    if (values(x).some(one => one < 0 || one >= own('weight').shape[0])) fail(`A token is out of range: ids run from 0 to ${own('weight').shape[0] - 1}.`);
    return part(own('weight'), x);
  });
  layer('LayerNorm', ['normalized_shape', 'eps?', 'elementwise_affine?', 'bias?'], (shape, eps = 1e-5, affine = true, bias = true) => {
    const own = [whole(shape)].flat();
    return {eps, normalized_shape: Tuple.from(own.map(BigInt)), weight: truth(affine) ? parameter(filled(own, 1)) : null, bias: truth(affine) && truth(bias) ? parameter(filled(own, 0)) : null};
  }, (own, x) => known.F.layer_norm.apply(x, own('normalized_shape'), own('weight'), own('bias'), own('eps')));
  layer('RMSNorm', ['normalized_shape', 'eps?'], (shape, eps = null) => ({eps, normalized_shape: Tuple.from([whole(shape)].flat().map(BigInt)), weight: parameter(filled([whole(shape)].flat(), 1))}),
    (own, x) => known.F.rms_norm.apply(x, own('normalized_shape'), own('weight'), own('eps')));
  nn.Dropout = kinds.native('Dropout', [Module], {
    __init__: (self, [p], named) => void self.fields.set('p', p ?? named.p ?? 0.5),
    forward: (self, [x]) => known.F.dropout.apply(x, self.fields.get('p'), attribute(self, 'training')),
  });

  const list = {
    __iter__: self => fieldsOf(self, isModule).map(([, one]) => one), __len__: self => BigInt(fieldsOf(self, isModule).length),
    __getitem__: (self, [at]) => getItem(fieldsOf(self, isModule).map(([, one]) => one), at),
    append: (self, [one]) => (self.fields.set(String(fieldsOf(self, isModule).length), one), self),
  };
  const fill = (self, all) => [...all].forEach((one, at) => self.fields.set(String(at), one));
  nn.ModuleList = kinds.native('ModuleList', [Module], {...list, __init__: (self, [all = []]) => fill(self, items(all))});
  nn.Sequential = kinds.native('Sequential', [Module], {...list, __init__: (self, all) => fill(self, all),
    forward: (self, [x]) => [...self.fields.values()].filter(one => isModule(one) || typeof one === 'function').reduce((one, layer) => isModule(layer) ? attribute(layer, '__call__')([one], {}) : layer([one], {}), x)});
  const drawn = (tensor, numbers) => (write(tensor, numbers), tensor);
  const normal = ([x, mean = 0, std = 1], named) => drawn(x, operate('+', operate('*', chance.normal(x.shape), float(named.std ?? std)), float(named.mean ?? mean)));
  nn.init = {title: 'nn.init', known: {}, normal_: normal, zeros_: ([x]) => drawn(x, filled(x.shape, 0)), ones_: ([x]) => drawn(x, filled(x.shape, 1)), constant_: ([x, number]) => drawn(x, filled(x.shape, float(number))),
    xavier_uniform_: ([x]) => drawn(x, chance.uniform(x.shape, Math.sqrt(6 / (x.shape[0] + x.shape[1])))), eye_: ([x]) => drawn(x, known.torch.eye.apply(...x.shape.map(BigInt)))};
  define('method', 'normal_', 'x mean? std?', (x, mean, std) => normal([x, mean, std], {}));
  Object.assign(modules.torch, {Tensor: {title: 'torch.Tensor', known: {}}});
  modules.np.ndarray = {title: 'np.ndarray', known: {}};
  library.standard['torch.nn.init'] = nn.init;
})();
