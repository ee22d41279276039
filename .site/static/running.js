// Cells of a lesson that the reader runs: the code becomes a text field, and its own output takes the place of the saved one.
globalThis.running = (() => {
  const kernel = cells.open(lessonCells), shown = lessonCells.cells.flatMap(({shown}, place) => shown ? [place] : []), onPage = [...document.querySelectorAll('.cell.tag_runs')];
  const nameOf = place => `cell/${lessonCells.lesson}/${lessonCells.cells[place].id}`;  // by which its changed code is kept
  const saved = [...kernel.sources], opened = new Map();  // by place
  const MOST = 20000;  // signs of output
  function element(kind, properties, ...inside) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...inside);
    return made;
  }
  const changed = place => kernel.sources[place] !== saved[place];
  const frame = () => new Promise(done => setTimeout(done, 30));  // in which the page shows what has changed

  function open(place) {
    const cell = onPage[shown.indexOf(place)], run = cell.querySelector('.run'), input = cell.querySelector('.cell_input'), block = input.querySelector('.highlight'), before = block.querySelector('pre');
    const old = [...cell.children].filter(part => part !== input && !part.matches('.above-input'));
    const area = element('textarea', {className: 'typed', value: kernel.sources[place], spellcheck: false, autocomplete: 'off', autocapitalize: 'off', ariaLabel: 'The code of this cell, which you may change'});
    const coloured = element('div', {className: 'coloured', ariaHidden: true}), editor = element('div', {className: 'own-code'}, coloured, area);
    const back = element('button', {type: 'button', textContent: 'Back to the saved cell'}), whose = element('span'), result = element('div', {className: 'result'});
    const said = element('div', {className: 'visually-hidden'}), own = element('div', {className: 'cell_output own-output'}, element('p', {className: 'whose'}, whose, back), result);
    said.setAttribute('role', 'status');
    area.setAttribute('autocorrect', 'off');
    const {font, padding} = getComputedStyle(before);
    Object.assign(editor.style, {font});
    editor.style.setProperty('--padding', padding);
    before.hidden = true;
    before.after(editor);
    input.after(own, said);
    old.forEach(part => { part.hidden = true; });
    cell.classList.add('own-run');

    const paint = faulty => coloured.replaceChildren(...area.value.split('\n').map((line, at) => element('div', {className: at + 1 === faulty ? 'faulty' : '', style: `--in: ${line.match(/^ */)[0].length}`}, ...inColours(line), '\n')));
    const insert = text => document.execCommand('insertText', false, text);  // so that it can be undone
    area.addEventListener('input', () => {
      kernel.sources[place] = area.value;
      paint();
      keep();
      own.classList.add('old');
      whose.textContent = result.children.length ? 'Your output, before the last change' : 'Changed, and not run yet';
    });
    const keep = () => remembered.keep(({code}) => {
      if (changed(place)) code[nameOf(place)] = {typed: kernel.sources[place]};
      else delete code[nameOf(place)];
    });
    area.addEventListener('keydown', event => {
      const start = area.value.slice(0, area.selectionStart), line = start.split('\n').at(-1), [indent] = line.match(/^ */);
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey || event.shiftKey)) run.click();
      else if (event.key === 'Enter' && !event.isComposing) insert(`\n${indent}${/:\s*$/.test(line) ? '    ' : ''}`);
      else if (event.key === 'Backspace' && line && line === indent && area.selectionStart === area.selectionEnd) {  // to the last multiple of four
        area.setSelectionRange(start.length - (line.length % 4 || 4), start.length);
        document.execCommand('delete');
      } else return;
      event.preventDefault();
    });
    back.addEventListener('click', async () => {
      const wasChanged = changed(place);
      kernel.sources[place] = saved[place];
      opened.delete(place);
      keep();
      [editor, own, said].forEach(part => part.remove());
      [before, ...old].forEach(part => { part.hidden = false; });
      cell.classList.remove('own-run');
      run.focus();
      if (wasChanged) await runAgain(place);
    });
    paint();
    const change = ({old, now}) => {  // as if it were typed
      if (!area.value.includes(old)) return;
      area.focus({preventScroll: true});
      area.setSelectionRange(area.value.indexOf(old), area.value.indexOf(old) + old.length);
      insert(now);
      area.blur();
    };
    if (changed(place)) whose.textContent = 'Your change from before: Run shows what it gives.';
    return {cell, tell, change, key: ''};

    function tell(outcome) {
      const above = kernel.needed(place).filter(changed), lines = [];
      if (outcome.fault !== undefined) {
        const here = outcome.at === place;
        lines.push(element('p', {className: 'fault'}, ...here ? [`Line ${outcome.line}: `] : ['In ', linkTo(outcome.at, 'a cell above'), `, line ${outcome.line}: `], outcome.fault));
        if (here) paint(outcome.line);
      } else paint();
      const strangers = changed(place) ? kernel.strangers(place) : [];
      if (strangers.length) lines.push(element('p', {className: 'uses'}, 'This page does not know ', ...strangers.flatMap((name, at) => [at ? ' and ' : '', element('code', {textContent: name})]), ': the notebook does, if it is installed there.'));
      const text = outcome.fault === undefined ? kernel.output(outcome) : outcome.printed.join('');
      if (text) lines.unshift(element('div', {className: 'highlight'}, element('pre', {textContent: text.length > MOST ? `${text.slice(0, MOST)}\n… and ${text.length - MOST} more characters` : text})));
      else if (outcome.fault === undefined && !strangers.length) lines.push(element('p', {className: 'none'}, 'No output: the cell only makes what others use.'));
      if (above.length) lines.push(element('p', {className: 'uses'}, `With your change${above.length > 1 ? 's' : ''} in `, ...above.flatMap((other, at) => [at ? ', ' : '', linkTo(other, at ? 'another' : 'a cell above')]), '.'));
      else if (outcome.fault === undefined && changed(place)) lines.push(element('p', {className: 'uses'}, 'The cells below use your change when you run them.'));
      result.replaceChildren(...lines);
      own.classList.remove('old');
      whose.textContent = 'Your output';
      said.textContent = `Your output: ${result.textContent}`.slice(0, 400);
      dispatchEvent(new Event('change'));  // site.js fits what is too wide
    }
  }
  function linkTo(place, words) {
    const cell = document.querySelector(`.cell.tag_place-${place}`);
    if (!cell) return words;
    cell.id ||= `cell-${place}`;
    return element('a', {href: `#${cell.id}`, textContent: words});
  }

  async function run(place) {
    const one = opened.get(place);
    one.cell.classList.add('own-busy');
    await frame();
    one.key = keyOf(place);
    one.tell(kernel.run(place));
    one.cell.classList.remove('own-busy');
  }
  const keyOf = place => JSON.stringify([...kernel.needed(place), place].map(other => kernel.sources[other]));
  async function runAgain(place) {  // the cells below that were run, if the change reaches them
    for (const other of [...opened.keys()].sort((one, two) => one - two))
      if (other > place && opened.has(other) && opened.get(other).key !== keyOf(other)) await run(other);
  }
  let last = Promise.resolve();
  const press = (number, change) => last = last.catch(() => {}).then(async () => {
    const place = shown[number];
    if (!opened.has(place)) opened.set(place, open(place));
    if (change) opened.get(place).change(change);
    await run(place);
    await runAgain(place);
  });
  function restore() {
    const {code} = remembered.recall();
    shown.filter(place => code[nameOf(place)]).forEach(place => {
      kernel.sources[place] = code[nameOf(place)].typed;
      opened.set(place, open(place));
    });
  }
  return {press, restore};
})();
