// The cells of a lesson, which run in the order of the page: a cell runs after those above it that make what it names.
globalThis.cells = (() => {
  const LINES = 1000;  // a line's number says which cell it is of

  // `lesson` is {cells: [{source, runs}, …], package: {module: {function: source}}}, of which a cell that the page cannot run has
  // `runs: false`. A source may be changed. What is run is a session of its own each time: nothing is left of an earlier one.
  function open(lesson) {
    const sources = lesson.cells.map(({source}) => source), studied = new Map();
    const read = source => {
      if (!studied.has(source)) studied.set(source, python.study(source));
      return studied.get(source);
    };
    const study = at => read(sources[at]) ?? read(lesson.cells[at].source) ?? read('');  // what is no Python makes what it made before
    const madeIn = at => lesson.cells[at].runs ? study(at).makes : new Set(lesson.cells[at].makes);
    function needed(at) {  // the places of cells above, in order
      const names = new Set(study(at).reads), places = [], imports = new Set(sources.flatMap((_, place) => study(place).imports));
      for (let place = at - 1; place >= 0; place--) {
        const made = [...madeIn(place)].filter(name => names.has(name)), {reads, changes} = study(place);
        if (!made.length && !changes.some(name => names.has(name) && !imports.has(name))) continue;
        places.unshift(place);
        made.forEach(name => names.delete(name));
        if (lesson.cells[place].runs) reads.forEach(name => names.add(name));
      }
      return places;
    }

    function imported(name) {  // what the package of the course holds
      const module = lesson.package[name], [, parent, own] = name.match(/^(?:(.*)\.)?(\w+)$/);
      if (module) return moduleOf(name);
      if (['plots', 'playgrounds'].includes(own)) return {title: own, known: {}, draws: true};
      if (lesson.package[parent]?.[own]) return library.attribute(moduleOf(parent), own);
      return {title: own, known: {}};
    }
    let modules = {};
    function moduleOf(name) {
      if (modules[name]) return modules[name];
      const module = modules[name] = {title: name.split('.').at(-1), known: {}}, inside = python.session(imported);
      for (const [own, source] of Object.entries(lesson.package[name])) {
        if (inside.run(source).fault === undefined) module[own] = inside.taken(own);
      }
      return module;
    }

    // {printed, value} or {fault, line, at: the place of the cell with this line, which may be one above}
    function run(at) {
      modules = {};
      const session = python.session(imported);
      for (const place of [...needed(at), at]) {
        if (!lesson.cells[place].runs) {
          lesson.cells[place].makes.forEach(session.lose);
          continue;
        }
        const outcome = session.run(sources[place], LINES * place + 1);
        if (outcome.fault !== undefined) return {...outcome, line: outcome.line % LINES, at: Math.floor(outcome.line / LINES)};
        if (place === at) return outcome;
      }
    }
    const output = ({printed, value}) => printed.join('') + (value === null || value === undefined ? '' : library.repr(value));
    return {sources, needed, run, output};
  }
  return {open};
})();
