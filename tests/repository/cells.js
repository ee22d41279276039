// Runs the cells of lessons as a page does: node cells.js FOLDER reads, as JSON,
// [[lesson, {place: source}, [place, …]], …], in which sources may take the place of the lesson's, and writes what
// each of these cells puts out.
const fs = require('fs');
for (const name of ['tensors', 'printing', 'containers', 'torch', 'chance', 'python', 'cells']) {
  (0, eval)(fs.readFileSync(`${process.argv[2]}/${name}.js`, 'utf8'));
}
Date.now = () => 0;  // a busy machine is slow: here the number of steps is the only limit
const asked = JSON.parse(fs.readFileSync(0));
console.log(JSON.stringify(asked.map(([lesson, changes, places]) => {
  const kernel = cells.open(lesson);
  Object.assign(kernel.sources, changes);
  return places.map(place => {
    const outcome = kernel.run(place), {fault, line, at} = outcome;
    return fault === undefined ? {output: kernel.output(outcome), needed: kernel.needed(place)} : {fault, line, at};
  });
})));
