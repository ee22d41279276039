"use strict";
// One mistake on each screen. A key shows where to look, then what is wrong, then the right line; then the next screen.
// The screens are those of all lessons together or, at a choice, of one. After the last come the tables, page by page.
const all = [...document.querySelectorAll(".screen")], tables = [...document.querySelectorAll(".rest")];
const choice = document.getElementById("choice"), buttons = [...choice.querySelectorAll("button")];
const keys = document.getElementById("keys"), PAGE = 0.8;  // of the window
document.body.classList.add("deck");
choice.hidden = keys.hidden = false;
const asked = location.hash.slice(1) || new URLSearchParams(location.search).get("lesson") || "";
let [lesson, place] = asked.split("-"), parts = of(lesson);
if (parts.length === tables.length) parts = of(lesson = "");
place = Math.min(Math.max(Number(place) - 1 || 0, 0), parts.length - 1);

function of(lesson) { return [...all.filter((screen) => (screen.dataset.only || "") === lesson), ...tables]; }
const next = () => parts[place].querySelector(".step:not(.shown)");
const isRead = () => scrollY + innerHeight >= document.documentElement.scrollHeight - 2;

function show() {
  for (const part of [...all, ...tables]) part.hidden = part !== parts[place];
  for (const row of document.querySelectorAll("tr[data-lesson]"))
    row.hidden = lesson !== "" && row.dataset.lesson !== lesson;
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.lesson === lesson);
  document.body.classList.toggle("end", tables.includes(parts[place]));
  parts[place].classList.toggle("told-all", parts[place].querySelector(".answer.shown") !== null);
  history.replaceState(null, "", `${location.pathname}#${lesson}-${place + 1}`);
  scrollTo(0, 0);
  hint();
}

function hint() {
  const step = next(), isLast = place === parts.length - 1;
  const what = step ? step.matches(".look") ? "where to look" : step.matches(".right") ? "the right line" : "the answer"
    : !isRead() ? "more" : isLast ? "" : parts[place + 1].querySelector(".rest > h2")?.textContent ?? "next";
  keys.textContent = `${what && `→ ${what}   `}← back`;
}

function on() {
  const step = next();
  if (!step && !isRead()) return scrollBy(0, PAGE * innerHeight);
  if (step) step.classList.add("shown");
  else if (place === parts.length - 1) return;
  else place += 1;
  show();
}

function back() {
  const last = [...parts[place].querySelectorAll(".step.shown")].pop();
  if (!last && scrollY > 0) return scrollBy(0, -PAGE * innerHeight);
  if (last) last.classList.remove("shown");
  else place = Math.max(place - 1, 0);
  show();
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    [lesson, place] = [button.dataset.lesson, 0];
    parts = of(lesson);
    button.blur();
    show();
  });
}
addEventListener("scroll", hint);
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button")) return;
  if (["ArrowLeft", "PageUp"].includes(event.key)) back();
  else if (["ArrowRight", " ", "PageDown", "Enter"].includes(event.key)) event.shiftKey ? back() : on();
  else if (event.key === "Home") { place = 0; show(); }
  else if (event.key === "End") { place = parts.length - tables.length; show(); }
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!tables.includes(parts[place]) && !getSelection().toString() && !event.target.closest("a, button")) on();
});
show();
