"use strict";
// One mistake on each screen. A key shows where to look, then what is wrong, then the right line; then the next screen.
// The screens are those of all lessons together or, at a choice, of one.
const all = [...document.querySelectorAll(".screen")], keys = document.getElementById("keys");
const choice = document.getElementById("choice"), buttons = [...choice.querySelectorAll("button")];
document.body.classList.add("deck");
choice.hidden = false;
let [lesson, place] = location.hash.slice(1).split("-"), screens = of(lesson);
if (!screens.length) screens = of(lesson = "");
place = Math.min(Math.max(Number(place) - 1 || 0, 0), screens.length);

function of(lesson) { return all.filter((screen) => (screen.dataset.only || "") === lesson); }
const hidden = (screen) => [...screen.querySelectorAll(".step:not(.shown)")];
const shown = (screen) => [...screen.querySelectorAll(".step.shown")];

function show() {
  for (const screen of all) screen.hidden = screen !== screens[place];
  for (const row of document.querySelectorAll("tr[data-lesson]")) row.hidden = lesson !== "" && row.dataset.lesson !== lesson;
  for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.lesson === lesson);
  document.body.classList.toggle("end", place === screens.length);
  const screen = screens[place], next = screen ? hidden(screen)[0] : null;
  if (screen) screen.classList.toggle("told-all", screen.querySelector(".answer.shown") !== null);
  keys.hidden = !screen;
  const last = place === screens.length - 1 ? "→ the numbers" : "→ next";
  const what = !next ? last : next.matches(".look") ? "→ where to look" : next.matches(".right") ? "→ the right line" : "→ the answer";
  keys.textContent = `${what}   ← back`;
  history.replaceState(null, "", `#${lesson}-${place + 1}`);
  scrollTo(0, 0);
}

function on() {
  const next = screens[place] ? hidden(screens[place])[0] : null;
  if (next) next.classList.add("shown");
  else place = Math.min(place + 1, screens.length);
  show();
}

function back() {
  const last = screens[place] ? shown(screens[place]).pop() : null;
  if (last) last.classList.remove("shown");
  else place = Math.max(place - 1, 0);
  show();
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    [lesson, place] = [button.dataset.lesson, 0];
    screens = of(lesson);
    button.blur();
    show();
  });
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button")) return;
  const reading = place === screens.length;  // the numbers after the last screen are scrolled
  if (event.key === "ArrowLeft" || (event.key === "PageUp" && (!reading || scrollY === 0))) back();
  else if (!reading && ["ArrowRight", " ", "PageDown", "Enter"].includes(event.key)) event.shiftKey ? back() : on();
  else if (event.key === "Home") { place = 0; show(); }
  else if (event.key === "End") { place = screens.length; show(); }
  else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (screens[place] && !getSelection().toString() && !event.target.closest("a, button")) on();
});
show();
