// Runs answers as a page does: node answers.js FOLDER, with [[exercise, its script's content, [code, …]], …] as JSON on its input.
const fs = require('fs');
for (const name of ['tensors', 'torch', 'python', 'judging']) (0, eval)(fs.readFileSync(`${process.argv[2]}/${name}.js`, 'utf8'));
const {Tensor, values} = tensors;
const plain = value => value instanceof Tensor ? {kind: (value.numpy ? 'a' : 't') + value.dtype[0], shape: Array.from(value.shape), numbers: values(value).map(String)}
  : Array.isArray(value) ? Array.from(value, plain) : value === null ? null : {kind: typeof value, shape: [], numbers: [String(Number(value))]};
const told = (name, known, code) => {
  const inputs = known.cases.map(one => one.inputs.map(judging.readable));
  const {sign, headline, mistakes, why, line} = judging.judge(name, known, code);
  const results = python.run(code, name, inputs, {gradients: known.gradients}).map(({value, fault}) => fault === undefined ? {value: plain(value)} : {fault});
  return {results, sign, headline, names: mistakes?.map(one => one.name) ?? [], why, line: line ?? null};
};
console.log(JSON.stringify(JSON.parse(fs.readFileSync(0)).map(([name, known, codes]) => codes.map(code => told(name, known, code)))));
