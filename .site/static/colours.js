// Python's words, numbers, texts and remarks, in the colours of the cells.
globalThis.inColours = (() => {
  const KINDS = [['c1', /^#.*/], ['k', /^(?:def|class|return|for|while|if|elif|else|in|not|and|or|lambda|import|from|None|True|False|is|with|raise|break|continue|del|pass)\b/],
    ['mf', /^\d[\w.]*/], ['s1', /^[bf]?"""(?:[^]*?"""|.*)|^[bf]?'(?:[^'\\]|\\.)*'|^[bf]?"(?:[^"\\]|\\.)*"/], ['n', /^[A-Za-z_]\w*/], ['o', /^[-+*\/@%&|~^<>=!]+/]];
  return line => {
    const parts = [];
    for (let rest = line; rest;) {
      const [kind, found] = KINDS.map(([kind, form]) => [kind, rest.match(form)?.[0]]).find(([, found]) => found) ?? ['', rest[0]];
      parts.push(kind ? Object.assign(document.createElement('span'), {className: kind, textContent: found}) : found);
      rest = rest.slice(found.length);
    }
    return parts;
  };
})();

// Where code is typed, an iPhone would make the page larger, since code is small. Fingers can still do it.
if (/iP(?:hone|ad|od)/.test(navigator.userAgent)) document.querySelector('meta[name="viewport"]').content += ', maximum-scale=1';
