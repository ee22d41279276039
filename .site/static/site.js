// Two small things that style sheets cannot do.
(() => {
  // On paper nothing is folded.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach(details => { details.open = true; });
  });
  addEventListener('afterprint', () => folded.forEach(details => { details.open = false; }));

  // What scrolls sideways can be reached, and so scrolled, by keyboard.
  const scrolls = () => document.querySelectorAll('pre, .table-wrapper, .formula').forEach(element => {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
    else element.removeAttribute('tabindex');
  });
  addEventListener('load', scrolls);
  addEventListener('resize', scrolls);
  addEventListener('toggle', scrolls, true);
})();
