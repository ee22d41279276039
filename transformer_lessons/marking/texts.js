"use strict";
// What stands in texts.csv, what this browser has kept, and which of the two counts.
// `minus` comes last: what browsers have kept before there was one is shorter.
const POINTS = ["p1", "p2", "p3"], FILLED = [...POINTS, "comment", "minus"];
const filled = (line) => FILLED.map((name) => line[name]);
const same = (one, other) => one.every((value, place) => value === other[place]);
const isRead = (line) => POINTS.every((name) => line[name] !== "");
const take = (line, values) => FILLED.forEach((name, place) => { line[name] = values[place] ?? ""; });

// Fills the lines in with what was kept for exactly these texts, and returns those about which the two disagree:
// texts.csv holds something else now than all that this browser has seen in it or exported.
function restore(lines, saved) {
  return lines.filter((line) => {
    const kept = saved[line.id], there = filled(line);
    if (kept && same(kept.now, there)) {
      if (same(kept.last ?? there, there)) delete saved[line.id];  // the export has come back
    } else if (kept && kept.seen.some((values) => same(values, there))) take(line, kept.now);
    else return Boolean(kept);
    return false;
  });
}

// Keeps what a line holds now. `there` is what stood in texts.csv.
function keep(line, saved, there) {
  const seen = [...(saved[line.id]?.seen ?? []), there];
  const last = saved[line.id]?.last;
  const isNew = (one, place) => !seen.slice(0, place).some((two) => same(one, two));
  saved[line.id] = { now: filled(line), seen: seen.filter(isNew) };
  if (last) saved[line.id].last = last;
  else if (same(filled(line), there)) delete saved[line.id];  // all is taken back
}

// The table that `mark` reads back; the browser remembers that it has given this away.
function exported(columns, lines, saved) {
  for (const line of lines) {
    saved[line.id]?.seen.push(filled(line));
    if (saved[line.id]) saved[line.id].last = filled(line);
  }
  const harmless = (text) => (/^\s*[=+\-@\t|%]/.test(text) ? `'${text}` : text);  // no formula in a spreadsheet
  const cell = (name, text) => `"${(name === "comment" ? harmless(text) : text).replaceAll('"', '""')}"`;
  const rows = lines.map((line) => columns.map((name) => cell(name, String(line[name]))));
  return "\ufeff" + [columns, ...rows].map((row) => row.join(",") + "\r\n").join("");
}

// Equal texts with equal points are read once, for all who handed them in, except for those that are set apart. What
// is no longer handed in is not read.
function grouped(lines) {
  const groups = new Map();
  for (const line of lines) {
    if (line.who === "model answer" || line.old) continue;
    const key = JSON.stringify([line.question, line.group, filled(line), line.alone && line.id]);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()];
}
