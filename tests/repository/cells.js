// Runs the cells of lessons as a page does: node cells.js FOLDER reads, as JSON,
// [[lesson, {place: source}, [place, …]], …], in which sources may take the place of the lesson's, and writes what
// each of these cells puts out.
const fs = require('fs');
const NAMES = 'tensors printing kinds containers torch chance layers standard python cells';
for (const name of NAMES.split(' ')) {
  (0, eval)(fs.readFileSync(`${process.argv[2]}/${name}.js`, 'utf8'));
}
Date.now = () => process.cpuUsage().user / 1000;  // on a busy machine, only the time of this process counts
const asked = JSON.parse(fs.readFileSync(0));
console.log(JSON.stringify(asked.map(([lesson, changes, places]) => {
  const kernel = cells.open(lesson);
  Object.assign(kernel.sources, changes);
  const failed = new Map();  // what needs such a cell fails as it did
  return places.map(place => {
    const outcome = kernel.needed(place).map(at => failed.get(at)).find(Boolean) ?? kernel.run(place);
    const {fault, line, at} = outcome;
    if (fault !== undefined && at === place) failed.set(place, outcome);
    return fault === undefined ? {output: kernel.output(outcome), needed: kernel.needed(place)} : {fault, line, at};
  });
})));
