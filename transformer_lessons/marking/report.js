"use strict";
// Sorts a table by the column whose head is pressed, and opens the code to which a link leads.
for (const button of document.querySelectorAll(".sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0], { key } = button.dataset;
    const turned = head.getAttribute("aria-sort") === (key === "name" ? "ascending" : "descending");
    const order = (one, other) => key === "name"
      ? one.dataset.name.localeCompare(other.dataset.name) : other.dataset[key] - one.dataset[key];
    body.append(...[...body.rows].sort((one, other) => (turned ? -1 : 1) * order(one, other)));
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", (key === "name") !== turned ? "ascending" : "descending");
  });
}
function open() {
  const target = document.getElementById(location.hash.slice(1)), box = target && target.closest("details");
  if (box && !box.open) {
    box.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
const all = document.getElementById("all");
if (all) {
  all.addEventListener("click", () => {
    const boxes = [...document.querySelectorAll("#code details")], some = boxes.some((box) => !box.open);
    for (const box of boxes) box.open = some;
    all.textContent = some ? "Close all" : "Open all";
  });
}
