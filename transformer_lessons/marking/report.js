"use strict";
// Sorts a table by the column whose head is pressed, shows one lesson or all, and opens the code to which a link leads.
for (const button of document.querySelectorAll(".sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0], { key } = button.dataset;
    const turned = head.getAttribute("aria-sort") === (key === "name" ? "ascending" : "descending");
    const item = key.startsWith("item") ? Number(key.slice(4)) : -1;
    const value = (row) => Number(item < 0 ? row.dataset[key] : row.dataset.items[item]);
    const order = (one, other) => key === "name"
      ? one.dataset.name.localeCompare(other.dataset.name) : value(other) - value(one);
    body.append(...[...body.rows].sort((one, other) => (turned ? -1 : 1) * order(one, other)));
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", (key === "name") !== turned ? "ascending" : "descending");
  });
}
const buttons = [...document.querySelectorAll("#choice button")], results = document.querySelector("table.class");
const heads = results ? [...results.tHead.rows[0].cells] : [];
const columns = heads.flatMap((cell) => Array(cell.colSpan).fill(cell.dataset.lesson || ""));
const PARTS = "#lessons tr[data-lesson], #next [data-lesson], #stuck tbody tr, #exercises tbody tr, #mistakes > div, "
  + "#questions :is(tr, li)[data-lesson], #unread > div, #code details";
// The lesson stands in the address, for links and reloads, and is passed on to the projector.
function only(lesson) {
  const here = new URL(location);
  here.search = lesson && `lesson=${lesson}`;
  if (/^#\d*$/.test(here.hash)) here.hash = "";  // the projector's way to name a lesson
  if (here.href !== location.href) history.replaceState(null, "", here);
  for (const link of document.querySelectorAll("a.of-lesson")) link.hash = lesson;
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.lesson === lesson);
  for (const part of document.querySelectorAll(".facts, .unread")) part.hidden = part.dataset.lesson !== lesson;
  for (const part of document.querySelectorAll(PARTS)) {
    part.hidden = lesson !== "" && part.dataset.lesson !== lesson;
  }
  document.body.classList.toggle("one", lesson !== "");
  for (const row of results ? results.rows : []) {
    let place = 0;
    for (const cell of row.cells) {
      cell.hidden = lesson !== "" && place > 0 && columns[place] !== lesson;
      place += cell.colSpan;
    }
  }
}
for (const button of buttons) button.addEventListener("click", () => only(button.dataset.lesson));
function open() {
  const target = document.getElementById(location.hash.slice(1)), box = target && target.closest("details");
  if (target && target.closest("[hidden]")) only("");
  if (box && !box.open) {
    box.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", open);
const asked = new URLSearchParams(location.search).get("lesson") ?? location.hash.slice(1);
if (buttons.some((button) => button.dataset.lesson === asked)) only(asked);
open();
const all = document.getElementById("all");
if (all) {
  all.addEventListener("click", () => {
    const boxes = [...document.querySelectorAll("#code details")], some = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = some;
    all.textContent = some ? "Close all" : "Open all";
  });
}
