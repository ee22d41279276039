// A button on each cell that can run in the page. What runs it is loaded when one is pressed.
(() => {
  const {lesson} = document.currentScript.dataset, up = document.documentElement.dataset.content_root ?? './';
  const PARTS = ['tensors', 'printing', 'containers', 'torch', 'chance', 'python', 'cells', 'running'].map(part => `_static/${part}.js`);
  const load = source => new Promise((done, failed) => document.head.append(
    Object.assign(document.createElement('script'), {src: up + source, onload: done, onerror: failed})));
  let ready = null;
  const all = () => [...globalThis.inColours ? [] : ['_static/colours.js'], `beside/run/${lesson}.js`, ...PARTS]
    .reduce((before, source) => before.then(() => load(source)), Promise.resolve());
  document.querySelectorAll('.cell.tag_runs').forEach((cell, number) => {
    const button = Object.assign(document.createElement('button'), {type: 'button', className: 'run', title: 'Runs in this page, and the code can be changed'});
    button.innerHTML = '<span aria-hidden="true">▶</span> Run';
    button.onclick = async () => {
      button.setAttribute('aria-busy', 'true');
      try {
        await (ready ??= all());
        await running.press(cell, number, button);
      } catch (error) {
        ready = null;
        button.textContent = 'It does not run here';
        button.title = error?.message ?? 'A file is missing.';
      }
      button.removeAttribute('aria-busy');
    };
    cell.querySelector('.cell_input .highlight').append(button);
  });
})();
