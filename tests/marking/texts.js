// Answers what a test asks of the page on which texts are read: node tests/marking/texts.js texts.js < JSON
const fs = require('fs'), vm = require('vm');
vm.runInThisContext(fs.readFileSync(process.argv[2], 'utf8'));
const {columns, lines, saved, grade, apart} = JSON.parse(fs.readFileSync(0, 'utf8'));
const there = new Map(lines.map(line => [line.id, filled(line)]));
for (const line of lines) line.alone = (apart ?? []).includes(line.id);
const disputed = restore(lines, saved).map(line => line.id);
for (const [id, values] of Object.entries(grade ?? {})) {
  const line = lines.find(one => one.id === id);
  take(line, values);
  keep(line, saved, there.get(id));
}
const groups = grouped(lines).map(group => group.map(line => line.id));
const now = Object.fromEntries(lines.map(line => [line.id, filled(line)]));
const read = lines.filter(line => line.who !== 'model answer' && isRead(line)).length;
console.log(JSON.stringify({now, disputed, groups, read, csv: exported(columns, lines, saved), saved}));
