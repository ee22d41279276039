  // Lesson 12: a token drafted from q is kept, or drawn again, so that the result is distributed as p.
  make('p', {className: 'name', textContent: 'Choose the token that the cheap model has drafted, and the number u.'}, stage);
  const buttons = make('div', {role: 'group', ariaLabel: 'The drafted token'}, stage);
  const sliders = make('div', {className: 'sliders'}, stage);
  const u = slider('u', {min: 0, max: 99, step: 1, value: data.u}, hundredths => (hundredths / 100).toFixed(2), sliders, show);
  make('button', {type: 'button', textContent: 'Draft 1,000 tokens at random', onclick: draftMany}, make('div', {}, stage));
  const view = make('div', {className: 'view'}, stage), columns = ['token', 'q, drafted', '', 'p, wanted', '', 'min(1, p / q)', 'residual', 'results'];
  const cells = table('Two distributions', columns, data.words, make('div', {className: 'numbers'}, view));
  const bars = cells.map(row => [bar(row[1]), bar(row[3])]);
  const picks = data.words.map((word, token) => make('button', {type: 'button', textContent: word, onclick: () => { drafted = token; show(); }}, buttons));
  const accept = data.q.map((q, token) => Math.min(1, data.p[token] / q));
  const residual = data.p.map((p, token) => Math.max(0, p - data.q[token])), rest = sum(residual);
  let drafted = data.drafted, kept = null;

  function result(token, u) {  // as speculate does it: a rejected u serves for the second draw
    if (u < accept[token]) return token;
    let place = (u - accept[token]) / (1 - accept[token]) * rest, other = 0;
    while (other < residual.length - 1 && place >= residual[other]) place -= residual[other++];
    return other;
  }

  function draftMany() {
    kept = data.words.map(() => 0);
    for (let draft = 0; draft < 1000; draft++) {
      let place = Math.random(), token = 0;
      while (token < data.q.length - 1 && place >= data.q[token]) place -= data.q[token++];
      kept[result(token, Math.random())]++;
    }
    show();
  }

  function show() {
    const number = u.value / 100, found = result(drafted, number);
    cells.forEach((row, token) => {
      row[0].textContent = two(data.q[token]);
      row[2].textContent = two(data.p[token]);
      row[4].textContent = two(accept[token]);
      row[5].textContent = two(residual[token]);
      row[6].textContent = kept ? (kept[token] / 1000).toFixed(3) : '–';
      bars[token][0](data.q[token]);
      bars[token][1](data.p[token]);
      row[0].parentElement.classList.toggle('chosen', token === found);
      row[0].parentElement.querySelector('th').textContent = data.words[token] + (token === found ? ' (result)' : '');
      picks[token].setAttribute('aria-pressed', String(token === drafted));
    });
    const [word, other] = [data.words[drafted], data.words[found]];
    said.textContent = `“${word}” is drafted with q = ${two(data.q[drafted])}, and p = ${two(data.p[drafted])}. `
      + (number < accept[drafted] ? `u = ${number.toFixed(2)} is below ${two(accept[drafted])}: it is accepted.`
        : `u = ${number.toFixed(2)} is not below ${two(accept[drafted])}: it is rejected, and “${other}” is drawn from the residual.`)
      + (kept ? ' The last column has the shares of 1,000 results: they come near p.' : '');
  }
  show();
