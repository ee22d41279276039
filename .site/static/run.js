// A button on each cell that can run in the page. What runs it is loaded when one is pressed.
(() => {
  const {lesson} = document.currentScript.dataset, up = document.documentElement.dataset.content_root ?? './', cells = [...document.querySelectorAll('.cell.tag_runs')];
  const PARTS = ['tensors', 'printing', 'kinds', 'containers', 'torch', 'chance', 'layers', 'standard', 'python', 'cells', 'running'].map(part => `_static/${part}.js`);
  const load = source => (globalThis.loadedParts ??= {})[source] ??= new Promise((done, failed) => document.head.append(Object.assign(document.createElement('script'), {src: up + source, onload: done, onerror: () => {
    delete loadedParts[source];
    failed();
  }})));
  let ready = null;
  const all = () => [...globalThis.inColours ? [] : ['_static/colours.js'], `beside/run/${lesson}.js`, ...PARTS]
    .reduce((before, source) => before.then(() => load(source)), Promise.resolve());
  const buttons = cells.map((cell, number) => {
    const button = Object.assign(document.createElement('button'), {type: 'button', className: 'run', title: 'Runs in this page, and the code can be changed'});
    button.innerHTML = `<span aria-hidden="true">▶</span> Run${number ? '' : ' and change'}`;
    button.onclick = () => press(number);
    cell.querySelector('.cell_input .highlight').append(button);
    return button;
  });
  async function press(number, change) {
    const button = buttons[number];
    button.setAttribute('aria-busy', 'true');
    try {
      await (ready ??= all());
      await running.press(number, change);
    } catch (error) {
      ready = null;
      button.textContent = 'It does not run here';
      button.title = error?.message ?? 'A file is missing.';
    }
    button.removeAttribute('aria-busy');
  }
  document.querySelectorAll('.suggestion button').forEach(button => {
    const {number, old, now} = button.dataset;
    button.hidden = false;
    button.onclick = () => press(Number(number), {old, now});
  });
  if (Object.keys(remembered.recall().code).some(name => name.startsWith(`cell/${lesson}/`))) (ready = all()).then(() => running.restore());  // what was changed before
})();
