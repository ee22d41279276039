// The start page: the model that a press brings to life, and the opening that moves with the page.
(() => {
  const root = document.querySelector('.live[data-folder]'), form = root?.querySelector('form');
  if (!form) return;
  const line = form.elements.line, button = form.querySelector('button'), status = root.querySelector('[role="status"]');
  const told = status.textContent, parts = Number(root.dataset.parts);
  const load = name => new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: root.dataset.folder + name, onload: done, onerror: failed})));

  form.onsubmit = async event => {  // nothing of the model is loaded before this
    event.preventDefault();
    button.disabled = true;
    const bar = Object.assign(document.createElement('progress'), {max: parts + 1, value: 0, ariaLabel: 'The model is being loaded'});
    status.replaceChildren('Loading the model … ', bar);
    try {
      globalThis.lessonsParts = [];  // of an earlier try that failed
      for (const name of ['model.js', 'tokens.js', 'live.js']) await load(name);
      for (let part = 0; part < parts; bar.value = ++part) await load(`weights-${part}.js`);
    } catch {
      button.disabled = false;
      status.textContent = 'The model could not be loaded: is there a connection? Press to try again.';
      return;
    }
    const loaded = lessons.readModel(lessons.fromBase64(globalThis.lessonsParts));
    delete globalThis.lessonsParts;
    root.classList.remove('resting');
    lessons.showing = lessons.show(root, loaded, line.value);
    root.querySelector('input').focus({preventScroll: true});
  };
  status.textContent = told;
})();

(() => {
  const opening = document.querySelector('.opening');
  if (!opening || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const steps = [...opening.querySelectorAll('li')];
  opening.classList.add('moves');
  const follow = () => {
    const presenting = document.documentElement.classList.contains('presenting');
    const line = innerHeight * (innerWidth < 740 ? 0.72 : 0.6);
    const passed = steps.filter(step => step.getBoundingClientRect().top < line).length;
    opening.dataset.step = presenting ? 5 : Math.max(1, passed);
    steps.forEach((step, number) => step.classList.toggle('current', number + 1 === Number(opening.dataset.step)));
  };
  addEventListener('scroll', follow, {passive: true});
  addEventListener('resize', follow);
  new MutationObserver(follow).observe(document.documentElement, {attributeFilter: ['class']});
  follow();
})();
