// Texts are read one at a time. Points are kept in this browser after every key, and exported as a new texts.csv.
const { columns, lines, questions, key, goingOn } = JSON.parse(document.getElementById("texts").textContent);
const KEYS = { 0: "0", 1: "1", 5: "0.5", h: "0.5", "½": "0.5" }, SIGNS = { 0: "0", 0.5: "½", 1: "1" };
const ALMOST = "nearly the text of ";
const find = (id) => document.getElementById(id);
const inFile = new Map(lines.map((line) => [line.id, filled(line)]));
let saved = {}, isKept = true, point = 0, place = 0;  // point: where digits go; after the third, nowhere
try { saved = JSON.parse(localStorage.getItem(key) || "{}"); } catch { isKept = false; }
let disputed = restore(lines, saved), groups;
let lesson = location.hash.slice(1) || new URLSearchParams(location.search).get("lesson") || "";
groups = chosen();
if (!groups.length) groups = chosen(lesson = "");

function lessonOf(number) { return number.split(".")[0]; }

function element(name, text, more = {}) {
  const made = Object.assign(document.createElement(name), more);
  made.textContent = text;
  return made;
}

function store() {
  try { localStorage.setItem(key, JSON.stringify(saved)); isKept = true; } catch { isKept = false; }
}

const firstOpen = ([line]) => isRead(line) ? POINTS.length : POINTS.findIndex((name) => line[name] === "");
const sumOf = (line) => Math.max(0, POINTS.reduce((total, name) => total + Number(line[name]), 0) - Number(line.minus));
// The texts of the chosen lesson, or of all.
function chosen() { return grouped(lines).filter(([line]) => lesson === "" || lessonOf(line.question) === lesson); }

const ofQuestion = (number) => groups.filter(([line]) => line.question === number);
const count = (some) => some.reduce((sum, group) => sum + group.length, 0);
const plural = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

// The text, its question, and the ways to other texts.
function show(said = "") {
  const group = groups[place], [line] = group, question = questions[line.question], alike = ofQuestion(line.question);
  point = firstOpen(group);
  const who = group.length > 1 ? `the same text from ${group.length} students, read once for all` : line.who;
  const flags = line.flags.split(", ").filter((flag) => flag && !flag.startsWith("the same text"));
  const isNear = (flag) => flag.startsWith(ALMOST);
  const where = [`Text ${alike.indexOf(group) + 1} of ${alike.length}`, who, ...flags.filter((flag) => !isNear(flag))];
  const near = flags.filter(isNear).map((flag) => alike.find((some) => some.some((one) => flag.endsWith(one.who))));
  find("where").replaceChildren(where.join(" · "), ...near.filter(Boolean).flatMap((other) => {
    const number = alike.indexOf(other) + 1;
    const button = element("button", `nearly the same as text ${number}`, { type: "button", title: "Go there" });
    button.onclick = () => go(groups.indexOf(other));
    return [" · ", button];
  }));
  find("title").textContent = `${line.question} ${question.title}`;
  find("question").textContent = question.text;
  find("model").textContent = question.model;
  const [other] = near.filter(Boolean);
  const like = flags.includes("like the model answer") ? question.model : other && other[0].shown;
  find("text").replaceChildren(...like ? shared(line.shown, like) : [line.shown]);
  find("comment").value = line.comment;
  tellWhom();
  find("points").replaceChildren(...question.points.map((words, number) => {
    const row = element("div", "", { className: "point", onclick: () => { point = number; update(); } });
    row.append(element("p", words), ...["0", "0.5", "1"].map((value) =>
      choice(value, SIGNS[value], `${value} for: ${words}`, (given) => give(given, number))));
    return row;
  }));
  find("minus").replaceChildren(element("p", "Does it claim something false? Take off:"), ...["0.5", "1"].map((value) =>
    choice(value, `−${SIGNS[value]}`, `take off ${value} for a false claim`, takeOff)));
  update(said);
}

// A button that gives a value or, if it is given already, takes it back.
function choice(value, sign, label, use) {
  const button = element("button", sign, { type: "button", value });
  button.setAttribute("aria-label", label);
  button.onclick = (event) => {
    event.stopPropagation();
    use(button.getAttribute("aria-pressed") === "true" ? "" : value);
    if (event.detail) button.blur();  // so that Enter goes on
  };
  return button;
}

function takeOff(value) {
  change("minus", value);
  update(value && "Say in the comment what is false.");
}

// Who gets the points and the comment: all who handed in this text or, at a choice, one of them.
function tellWhom() {
  const group = groups[place], [line] = group, number = group.length;
  find("all").hidden = number === 1 && !line.alone;
  document.querySelector("label[for=whom]").textContent = number > 1
    ? `Points and comment go to all ${number} students who handed in this text.` : "This one student alone:";
  const option = (text, value) => element("option", text, { value });
  find("whom").replaceChildren(...number > 1
    ? [option(`to all ${number}`, ""), ...group.map((one) => option(`only to ${one.who}`, one.id))]
    : [option(`only to ${line.who}`, line.id), option("to all with this text again", "")]);
  document.querySelector("label[for=comment]").textContent =
    `Comment, which ${number > 1 ? `all ${number} students` : "the student"} will see`;
}

// One student's text apart from equal ones, or together with them again, if they have got the same.
function setApart(id) {
  const line = groups[place].find((one) => !id || one.id === id);
  line.alone = id !== "";
  groups = chosen();
  place = groups.findIndex((group) => group.includes(line));
  show();
}

// The text, in which five or more words in a row that another has, too, such as the model answer, are marked.
function shared(text, other) {
  const wordsOf = (some) => [...some.matchAll(/[\p{L}\p{N}_]+/gu)];
  const joined = (words) => words.map(([word]) => word.toLowerCase()).join(" ");
  const runsOf = (words) => words.map((_, n) => joined(words.slice(n, n + 5))).slice(0, -4);
  const words = wordsOf(text), theirs = new Set(runsOf(wordsOf(other))), isShared = words.map(() => false), parts = [];
  runsOf(words).forEach((run, n) => { if (theirs.has(run)) isShared.fill(true, n, n + 5); });
  let end = 0;
  for (let n = 0; n < words.length; n += 1) {
    if (!isShared[n]) continue;
    const start = words[n].index;
    while (isShared[n + 1]) n += 1;
    parts.push(text.slice(end, start), element("mark", text.slice(start, end = words[n].index + words[n][0].length)));
  }
  return [...parts, text.slice(end)];
}

// What has been given, here and elsewhere.
function update(said = "") {
  const group = groups[place], [line] = group;
  [...find("points").children].forEach((row, number) => {
    row.classList.toggle("now", number === point);
    for (const button of row.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(line[POINTS[number]] === button.value));
  });
  for (const button of find("minus").querySelectorAll("button"))
    button.setAttribute("aria-pressed", String(line.minus === button.value));
  find("sum").textContent = POINTS.some((name) => line[name] !== "") ? `${sumOf(line)} of 3` : "";
  const lessons = [...new Set(Object.keys(questions).map(lessonOf))];
  find("lessons").replaceChildren("Lesson", ...["", ...lessons].map((one) => {
    const button = element("button", one || "all", { type: "button" });
    button.setAttribute("aria-pressed", String(one === lesson));
    button.onclick = () => choose(one);
    return button;
  }));
  const answered = Object.keys(questions).filter((number) => ofQuestion(number).length);
  find("questions").replaceChildren(...answered.map((number) => {
    const all = ofQuestion(number), read = count(all.filter(([one]) => isRead(one)));
    const text = `${number} · ${read} of ${count(all)}`;
    const button = element("button", text, { type: "button", title: questions[number].title });
    button.onclick = () => go(groups.indexOf(all.find(([one]) => !isRead(one)) ?? all[0]));
    button.classList.toggle("read", read === count(all));
    if (number === line.question) button.setAttribute("aria-current", "true");
    return button;
  }));
  find("list").replaceChildren(...ofQuestion(line.question).map((one, number) => {
    const isDone = isRead(one[0]);
    const button = element("button", isDone ? `${number + 1} ✓` : `${number + 1}`, { type: "button" });
    button.title = isDone ? `${sumOf(one[0])} of 3` : "not read yet";
    button.onclick = () => go(groups.indexOf(one));
    button.classList.toggle("read", isDone);
    if (one === group) button.setAttribute("aria-current", "true");
    return button;
  }));
  const comments = lines.filter((one) => one.question === line.question && one.who !== "model answer");
  const used = new Set(comments.map((one) => one.comment).filter((text) => text && text !== line.comment));
  const label = used.size ? [element("span", "Use again:", { className: "quiet" })] : [];
  find("used").replaceChildren(...label, ...[...used].slice(-6).map((text) => {
    const button = element("button", text, { type: "button", title: `Add to the comment: ${text}` });
    button.onclick = () => { comment([line.comment, text].filter(Boolean).join("\n")); show(); };
    return button;
  }));
  const read = count(groups.filter(([one]) => isRead(one))), all = count(groups);
  const kept = Object.entries(saved).filter(([id]) => inFile.has(id));
  const due = kept.filter(([id, { now, last }]) => !same(now, last ?? inFile.get(id))).length;
  const waiting = kept.length - due;
  find("done").textContent = `${read} of ${all} texts${lesson && ` of lesson ${lesson}`} read`;
  const keeping = isKept ? "" : "This browser keeps nothing: export before you close the page. ";
  const toDo = due
    ? `${plural(due, "text")} not yet exported.`
    : waiting ? `${plural(waiting, "text")} exported: run mark.` : "";
  find("said").textContent = keeping + (said || (read === all && due ? allRead() : toDo));
  find("export").classList.toggle("due", due > 0);
  disagree();
}

// texts.csv and this browser hold different points: the reader says which count.
function disagree() {
  find("disputed").hidden = !disputed.length;
  const signs = (values) => values.map((one) => SIGNS[one] ?? (one || "–")).join(", ");
  const off = (minus) => minus ? `, −${SIGNS[minus] ?? minus}` : "";
  const told = ([p1, p2, p3, words, minus]) => `${signs([p1, p2, p3])}${off(minus)} ${words}`.trim();
  find("which").replaceChildren(...disputed.map((line) => {
    const both = `in texts.csv ${told(filled(line))}; here ${told(saved[line.id].now)}`;
    return element("li", `${line.question}, ${line.who}: ${both}`);
  }));
}

function settle(isBrowser) {
  for (const line of disputed) {
    if (!isBrowser) { delete saved[line.id]; continue; }
    take(line, saved[line.id].now);
    saved[line.id].seen.push(inFile.get(line.id));
    delete saved[line.id].last;  // it is to be exported again
  }
  const [here] = groups[place];
  disputed = [];
  store();
  groups = chosen();
  place = groups.findIndex((group) => group.includes(here));
  show();
}

function change(name, value) {
  for (const line of groups[place]) {
    line[name] = value;
    keep(line, saved, inFile.get(line.id));
  }
  disputed = disputed.filter((line) => !groups[place].includes(line));
  store();
}

const comment = (text) => change("comment", text);

function give(value, number) {
  change(POINTS[number], value);
  const isDone = isRead(groups[place][0]), rest = groups.some(([line]) => !isRead(line));
  if (value === "") point = number;
  else point = isDone || number + 1 === POINTS.length ? firstOpen(groups[place]) : number + 1;
  update(isDone && rest ? "Enter: the next unread text." : "");
}

// Backspace: the point under the cursor is cleared or, if it is empty, the one before it.
function takeBack() {
  const [line] = groups[place];
  if (point > 0 && !line[POINTS[point]]) point -= 1;
  if (line[POINTS[point]]) give("", point);
  else update();
}

function go(to) {
  if (to < 0 || to >= groups.length) return update(to < 0 ? "This is the first text." : "This is the last text.");
  place = to;
  show();
  scrollTo(0, 0);
}

const allRead = () => `Everything${lesson && ` of lesson ${lesson}`} is read: export now.`;

// One lesson or all; it stands in the address, for links and reloads.
function choose(wanted) {
  lesson = wanted;
  history.replaceState(null, "", `${location.pathname}#${lesson}`);
  groups = chosen();
  place = Math.max(0, groups.findIndex(([line]) => !isRead(line)));
  show();
}

// The next text that nobody has read, from here on and then from the beginning.
function goOn() {
  const ahead = [...groups.keys()].map((step) => (place + 1 + step) % groups.length);
  const next = ahead.find((number) => !isRead(groups[number][0]));
  if (next === undefined) update(allRead());
  else go(next);
}

find("comment").addEventListener("input", (event) => { comment(event.target.value); update(); });
find("comment").addEventListener("blur", (event) => {
  const text = event.target.value.trim();
  if (groups[place][0].comment === text) return;
  comment(text);
  update();
});
find("comment").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.target.blur();
  goOn();
});
find("whom").onchange = (event) => { setApart(event.target.value); find("comment").focus(); };
find("answer").ontoggle = () => { if (find("answer").open) find("answer").scrollIntoView({ block: "nearest" }); };
find("back").onclick = () => go(place - 1);
find("on").onclick = () => go(place + 1);
find("next").onclick = goOn;
find("theirs").onclick = () => settle(false);
find("ours").onclick = () => settle(true);
find("export").onclick = () => {
  const data = new Blob([exported(columns, lines, saved)], { type: "text/csv" });
  const link = element("a", "", { download: "texts.csv", href: URL.createObjectURL(data) });
  link.click();
  URL.revokeObjectURL(link.href);
  store();
  update(goingOn);
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.activeElement.blur();
  if (["TEXTAREA", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const isOnButton = event.target.closest?.("button, summary") && [" ", "Enter"].includes(event.key);
  if (isOnButton) return;
  if (event.key in KEYS && point === POINTS.length)
    update("It is read. Enter goes on; ↑ or Backspace goes back to a point.");
  else if (event.key in KEYS) give(KEYS[event.key], point);
  else if (event.key === "Backspace") takeBack();
  else if (event.key === "Enter") goOn();
  else if (event.key === "ArrowRight") go(place + 1);
  else if (event.key === "ArrowLeft") go(place - 1);
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    point = Math.min(Math.max(point + (event.key === "ArrowDown" ? 1 : -1), 0), POINTS.length - 1);
    update();
  } else if (["-", "−"].includes(event.key)) takeOff({ "": "0.5", 0.5: "1" }[groups[place][0].minus] ?? "");
  else if (event.key === "m") find("answer").open = !find("answer").open;
  else if (event.key === "c") {
    const field = find("comment");
    if (/\S$/.test(field.value)) field.value += " ";
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  } else return;
  event.preventDefault();
});
if (groups.length) {
  place = Math.max(0, groups.findIndex(([line]) => !isRead(line)));
  show();
}
