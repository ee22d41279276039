"use strict";
// Texts are read one at a time. Points are kept in this browser after every key, and exported as a new texts.csv.
const { columns, lines, questions, key } = JSON.parse(document.getElementById("texts").textContent);
const saved = JSON.parse(localStorage.getItem(key) || "{}");
const texts = lines.filter((line) => line.who !== "model answer");
for (const line of texts) Object.assign(line, saved[`${line.question} ${line.who}`] || {});
const POINTS = ["p1", "p2", "p3"], KEYS = { 0: "0", 1: "1", 5: "0.5", h: "0.5", "½": "0.5" };
const find = (id) => document.getElementById(id);
let place = Math.max(0, texts.findIndex((line) => POINTS.some((name) => line[name] === ""))), point = 0;

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  made.textContent = text;
  return made;
}

function show() {
  const line = texts[place], question = questions[line.question];
  const alike = texts.filter((other) => other.question === line.question);
  find("where").textContent = `Question ${line.question} · text ${alike.indexOf(line) + 1} of ${alike.length} · ${line.who}`;
  find("question").textContent = question.text;
  find("model").textContent = question.model;
  find("text").textContent = line.text;
  find("flags").textContent = line.flags;
  find("comment").value = line.comment;
  const rows = question.points.map((words, number) => {
    const row = element("div", "", { className: "point" + (number === point ? " now" : "") });
    row.append(element("p", words));
    for (const [value, label] of [["0", "0"], ["0.5", "½"], ["1", "1"]]) {
      const button = element("button", label, { type: "button", onclick: () => give(value, number) });
      button.setAttribute("aria-pressed", String(line[POINTS[number]] === value));
      row.append(button);
    }
    return row;
  });
  find("points").replaceChildren(...rows);
  const done = texts.filter((one) => POINTS.every((name) => one[name] !== "")).length;
  find("done").textContent = `${done} of ${texts.length} texts read`;
}

function keep(line) {
  saved[`${line.question} ${line.who}`] = Object.fromEntries([...POINTS, "comment"].map((name) => [name, line[name]]));
  localStorage.setItem(key, JSON.stringify(saved));
}

function give(value, number) {
  const line = texts[place];
  line[POINTS[number]] = value;
  keep(line);
  point = number + 1;
  if (point === POINTS.length) go(1);
  else show();
}

function go(step) {
  place = Math.min(Math.max(place + step, 0), texts.length - 1);
  point = Math.max(0, POINTS.findIndex((name) => texts[place][name] === ""));
  show();
}

function exported() {
  const cell = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const rows = [columns, ...lines.map((line) => columns.map((name) => line[name]))];
  return "\ufeff" + rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}

find("comment").addEventListener("input", (event) => {
  const text = event.target.value;
  texts[place].comment = /^\s*[=+\-@\t|%]/.test(text) ? `'${text}` : text;  // no formula in a spreadsheet
  keep(texts[place]);
});
find("back").onclick = () => go(-1);
find("on").onclick = () => go(1);
find("export").onclick = () => {
  const link = element("a", "", { download: "texts.csv", href: URL.createObjectURL(new Blob([exported()], { type: "text/csv" })) });
  link.click();
  URL.revokeObjectURL(link.href);
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.activeElement.blur();
  if (event.target.tagName === "TEXTAREA" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in KEYS) give(KEYS[event.key], point);
  else if (event.key === "ArrowRight") go(1);
  else if (event.key === "ArrowLeft") go(-1);
  else if (event.key === "c") find("comment").focus();
  else return;
  event.preventDefault();
});
show();
