// Answers, line by line, what a test asks of the model in the browser: node tests/inspection/live.js FOLDER MODEL
const fs = require('fs'), vm = require('vm'), [folder, path] = process.argv.slice(2);
for (const name of ['model.js', 'tokens.js']) vm.runInThisContext(fs.readFileSync(`${folder}/${name}`, 'utf8'));
const {model, vocabulary} = lessons.readModel(new Uint8Array(fs.readFileSync(path)));
const run = (ids, silent) => {
  const cache = model.newCache();
  return ids.map((id, position) => model.forward(id, cache, position, silent)).at(-1);
};
const asked = JSON.parse(fs.readFileSync(0, 'utf8'));
const likeliest = logits => logits.indexOf(Math.max(...logits));
function write(text, length) {
  const ids = vocabulary.encode(text), cache = model.newCache();
  let step;
  ids.forEach((id, position) => { step = model.forward(id, cache, position); });
  for (let i = 0; i < length; i++) {
    ids.push(likeliest(step.logits));
    if (i < length - 1) step = model.forward(ids.at(-1), cache, ids.length - 1);
  }
  return ids;
}
const numbers = step => ({
  logits: [...step.logits],
  weights: step.weights.map(heads => heads.map(row => [...row])),
  lens: step.residuals.map(residual => [...model.readOut(residual)]),
});
const silenced = layers => layers.map(heads => new Set(heads));
console.log(JSON.stringify({
  encoded: (asked.texts ?? []).map(text => [...vocabulary.encode(text)]),
  decoded: (asked.texts ?? []).map(text => vocabulary.decode(vocabulary.encode(text))),
  steps: (asked.prompts ?? []).map(text => numbers(run(vocabulary.encode(text)))),
  silent: asked.silent ? [...run(vocabulary.encode(asked.silent.text), silenced(asked.silent.heads)).logits] : null,
  written: asked.write ? write(asked.write, asked.length) : null,
  chances: (asked.chances ?? []).map(([logits, temperature, topK]) =>
    [...lessons.chances(Float32Array.from(logits), temperature, topK ?? undefined)]),
}));
