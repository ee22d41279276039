"use strict";
// One mistake on each screen. A key shows what is wrong, then where to look, then the next screen; and back.
const screens = [...document.querySelectorAll(".screen")], keys = document.getElementById("keys");
document.body.classList.add("deck");
let place = Math.min(Math.max(Number(location.hash.slice(1)) - 1 || 0, 0), screens.length);

const hidden = (screen) => [...screen.querySelectorAll(".step:not(.shown)")];
const shown = (screen) => [...screen.querySelectorAll(".step.shown")];

function show() {
  screens.forEach((screen, number) => { screen.hidden = number !== place; });
  document.body.classList.toggle("end", place === screens.length);
  const screen = screens[place], next = screen ? hidden(screen)[0] : null;
  if (screen) screen.classList.toggle("told-all", shown(screen).length > 0);
  keys.hidden = !screen;
  const what = !next ? "→ next" : next.classList.contains("look") ? "→ where to look" : "→ the answer";
  keys.textContent = `${what}   ← back`;
  history.replaceState(null, "", `#${place + 1}`);
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
