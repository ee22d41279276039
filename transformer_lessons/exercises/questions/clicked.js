// A question in a notebook, to be clicked or filled in. What is answered is remembered by the browser, and sent nowhere.
(place => {
  // The script stands in its card or, in some editors, elsewhere, once the card is on the page.
  const last = place?.querySelector('[data-told]') ?? document.querySelector('[data-told]:not([data-clicked] > *)');
  const card = last?.parentElement;
  if (!card || 'clicked' in card.dataset) return;
  const told = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(last.dataset.told), sign => sign.charCodeAt(0))));
  const KEY = `transformer-lessons ${told.number}`, GREEN = '#1b9e77', ORANGE = '#d55e00';
  const make = (kind, properties, parent, style = '') => {
    const element = Object.assign(document.createElement(kind), properties);
    element.style.cssText = style;
    parent.append(element);
    return element;
  };
  const recall = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY));
    } catch {
      return null;  // damaged, or not allowed
    }
  };
  const keep = value => {
    try {
      localStorage.setItem(KEY, JSON.stringify(value));
    } catch { /* full, or not allowed */ }
  };
  const say = (place, right, why) => {
    place.innerHTML = `<strong>${right ? '✓ Right.' : '✗ No.'}</strong> ${why}`;
    place.style.borderLeft = `3px solid ${right ? GREEN : ORANGE}`;
    place.style.paddingLeft = '10px';
  };
  last.prepend('Click your answer here, or type it in the cell. ');
  const solved = answer => { last.innerHTML = `To keep it in this notebook, type <code>answer("${told.number}", ${answer})</code> in the cell.`; };
  const line = 'color: inherit; border: 1px solid #8a8a8a; border-radius: 8px; font: inherit;';

  if (!told.choices) last.firstChild.data = 'Type your answer here or in the cell. ';
  if (told.choices) {
    const opened = new Set(), buttons = {};
    const show = letter => {
      const open = opened.has(letter), {button, why} = buttons[letter];
      button.setAttribute('aria-expanded', open);
      why.hidden = !open;
      const right = told.choices.filter(choice => choice.right).map(choice => choice.letter);
      if (right.every(letter => opened.has(letter))) solved(`"${right.join('')}"`);
    };
    for (const paragraph of [...card.querySelectorAll(':scope > p')]) {
      const choice = told.choices.find(({letter}) => paragraph.textContent.startsWith(`${letter}) `));
      if (!choice) continue;
      const place = document.createElement('div');
      paragraph.replaceWith(place);
      const button = make('button', {type: 'button', innerHTML: paragraph.innerHTML}, place,
        `${line} display: block; width: 100%; text-align: left; padding: 6px 12px; margin: 6px 0; background: none; cursor: pointer`);
      const why = make('p', {hidden: true, ariaLive: 'polite'}, place, 'margin: 0 0 10px 12px');
      say(why, choice.right, choice.why);
      button.style.borderColor = '#8a8a8a';
      buttons[choice.letter] = {button, why};
      button.onclick = () => {
        if (!opened.delete(choice.letter)) opened.add(choice.letter);
        keep([...opened]);
        show(choice.letter);
      };
    }
    const kept = recall();
    for (const letter of Array.isArray(kept) ? kept : []) if (buttons[letter]) opened.add(letter);
    Object.keys(buttons).forEach(show);
  } else {
    const form = make('form', {}, card, 'margin: 6px 0');
    last.before(form);
    const label = make('label', {textContent: told.shape ? 'Shape: ' : 'Number: '}, form);
    const field = make('input', {autocomplete: 'off'}, label, `${line} padding: 5px 10px; width: 9em; background: none`);
    make('button', {textContent: 'Check'}, form, 'font: inherit; padding: 5px 14px; margin-left: 8px; border: 0; border-radius: 8px; background: #00507d; color: #fff; cursor: pointer');
    const said = make('p', {ariaLive: 'polite', hidden: true}, form, 'margin: 8px 0');
    const asked = last.innerHTML;
    form.onsubmit = event => {
      event.preventDefault();
      last.innerHTML = asked;
      const value = answers.read(told, field.value);
      said.hidden = false;
      if (value === null) {
        said.textContent = `○ ${answers.form(told)}`;
        return;
      }
      const {right, why} = answers.judge(told, value);
      say(said, right, why);
      keep(field.value);
      if (right) solved(told.shape ? `(${value.join(', ')}${value.length === 1 ? ',' : ''})` : /^[\d.]+$/.test(field.value.trim()) ? field.value.trim() : `"${field.value.trim().replace(/[^\w .,+*/^()%−×-]/g, '')}"`);
    };
    const kept = recall();
    if (typeof kept === 'string') {
      field.value = kept;
      form.requestSubmit();
    }
  }

  // Jupyter listens for keys, too: what is typed here stays here. Shift+Enter runs the cell, as it does everywhere in a
  // notebook; in a field, where it would only check once more, it checks and then leaves the field.
  if (!window.questionKeepsKeys) {
    window.questionKeepsKeys = true;
    window.addEventListener('keydown', event => {
      const {target, key} = event, runs = key === 'Enter' && event.shiftKey;
      if (!target.closest?.('[data-clicked]') || event.ctrlKey || event.metaKey || event.altKey || key === 'Tab') return;
      if (runs && target.matches('input')) {
        event.preventDefault();
        target.form.requestSubmit();
        target.blur();
        target.closest('.jp-Cell')?.focus({preventScroll: true});
      }
      if (!runs || target.matches('input')) event.stopPropagation();
    }, true);
  }
  card.dataset.clicked = '';
})(document.currentScript.parentElement);
