"use strict";
// One mistake on each screen. A key shows where to look, then what is wrong, then the right line; then the next screen.
// The screens are those of all lessons together or, at a choice, of one. After the last come the tables, page by page:
// a page leaves out the rows of those before it and of those for which it has no room: out of sight, but still there in
// print. A row that asks a question hides the answer until the next key. Where a table has one row or none, of all
// lessons or of the chosen one, it has no screen.
const all = [...document.querySelectorAll(".screen")], tables = [...document.querySelectorAll(".rest")];
const choice = document.getElementById("choice"), buttons = [...choice.querySelectorAll("button")];
const keys = document.getElementById("keys");
let pages = [];  // the first rows of those pages
document.body.classList.add("deck");
choice.hidden = keys.hidden = false;
const asked = location.hash.slice(1) || new URLSearchParams(location.search).get("lesson") || "";
let [lesson, place] = asked.split("-"), parts = of(lesson);
if (!parts.some((part) => all.includes(part))) parts = of(lesson = "");
place = Math.min(Math.max(Number(place) - 1 || 0, 0), parts.length - 1);

function of(lesson) {
  const isFull = (table) => table.dataset.lessons.split(" ").includes(lesson || "all");
  return [...all.filter((screen) => (screen.dataset.only || "") === lesson), ...tables.filter(isFull)];
}
const next = () => parts[place].querySelector(".step:not(.shown)");
const above = () => choice.getBoundingClientRect().bottom, below = () => keys.getBoundingClientRect().top;
const rowsOf = (part) => [...part.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
const isTitle = (row) => row && row.querySelector(".group") !== null;

// The first row of which something is below the window: the next page begins with it, and this one ends before it,
// unless it is the first here, too.
function unseen() {
  const rows = tables.includes(parts[place]) ? rowsOf(parts[place]) : [];
  for (const row of rows) row.classList.remove("later");
  let first = rows.findIndex((row) => row.getBoundingClientRect().bottom > below() + 1);
  if (first > 0 && isTitle(rows[first - 1])) first -= 1;  // no title stands alone
  const start = rows.findIndex((row) => !row.matches(".past") && !isTitle(row));
  if (first > start) for (const row of rows.slice(first)) row.classList.add("later");
  return first < 0 ? null : rows[first];
}

// The rows of this page that ask a question, all of which can be seen.
function asking() {
  unseen();
  const rows = tables.includes(parts[place]) ? rowsOf(parts[place]) : [];
  const isSeen = (row) => row.getBoundingClientRect().bottom <= below() + 1;
  return rows.filter((row) => row.matches(".asks:not(.past, .later)") && isSeen(row));
}

// Leaves out the rows before one; the title of its lesson stays.
function leaveOut(start) {
  let isBefore = start !== null, title = null;
  for (const row of parts[place].querySelectorAll("tbody tr")) {
    if (row === start) isBefore = false;
    row.classList.toggle("past", isBefore);
    if (isBefore && isTitle(row)) title = row;
    else if (row === start && title && !isTitle(row)) title.classList.remove("past");
  }
  scrollTo(0, 0);
}

function show() {
  for (const part of [...all, ...tables]) part.hidden = part !== parts[place];
  for (const row of document.querySelectorAll("tr[data-lesson]"))
    row.hidden = lesson !== "" && row.dataset.lesson !== lesson;
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.lesson === lesson);
  document.body.classList.toggle("end", tables.includes(parts[place]));
  parts[place].classList.toggle("told-all", parts[place].querySelector(".answer.shown") !== null);
  history.replaceState(null, "", `${location.pathname}#${lesson}-${place + 1}`);
  leaveOut(null);
  [...parts[place].querySelectorAll(".step.shown")].pop()?.scrollIntoView({ block: "nearest" });
  hint();
}

function hint() {
  const step = next(), isLast = place === parts.length - 1;
  const asks = asking().some((row) => !row.matches(".shown"));
  const what = asks ? "the answer"
    : step ? step.matches(".look") ? "where to look" : step.matches(".right") ? "the right line" : "the answer"
    : unseen() ? "more" : isLast ? "" : parts[place + 1].querySelector(".rest > h2")?.textContent ?? "next";
  keys.textContent = `${what && `→ ${what}   `}← back`;
}

function on() {
  const step = next(), row = unseen(), question = asking().find((one) => !one.matches(".shown"));
  if (question) {
    question.classList.add("shown");
    return hint();
  }
  if (!step && row) {
    if (!row.matches(".later")) return scrollBy(0, below() - above());  // the first here, and taller than the window
    pages.push(row);
    leaveOut(row);
    return hint();
  }
  if (step) step.classList.add("shown");
  else if (place === parts.length - 1) return;
  else place += 1;
  pages = [];
  show();
}

function back() {
  const last = [...parts[place].querySelectorAll(".step.shown")].pop();
  const told = asking().filter((one) => one.matches(".shown")).pop();
  if (told) {
    told.classList.remove("shown");
    return hint();
  }
  if (!last && scrollY > 0) return scrollTo(0, 0);
  if (!last && pages.pop()) {
    leaveOut(pages.at(-1) ?? null);
    return hint();
  }
  if (last) last.classList.remove("shown");
  else place = Math.max(place - 1, 0);
  pages = [];
  show();
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    [lesson, place] = [button.dataset.lesson, 0];
    parts = of(lesson);
    pages = [];
    button.blur();
    show();
  });
}
for (const change of ["scroll", "resize"]) addEventListener(change, hint);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button")) return;
  if (["ArrowLeft", "PageUp"].includes(event.key)) back();
  else if (["ArrowRight", " ", "PageDown", "Enter"].includes(event.key)) event.shiftKey ? back() : on();
  else if (event.key === "Home") { place = 0; pages = []; show(); }
  else if (event.key === "End") {
    place = parts.findIndex((part) => tables.includes(part));
    if (place < 0) place = parts.length - 1;
    pages = [];
    show();
  }
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!tables.includes(parts[place]) && !getSelection().toString() && !event.target.closest("a, button")) on();
});
show();
