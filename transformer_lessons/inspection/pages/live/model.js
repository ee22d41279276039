// The Transformer in plain JavaScript: models.py, layers.py, attention.py and positions.py again, for one token
// at a time. A vector is a Float32Array; a matrix is one too, row after row. `globalThis.lessons` holds what is used.
globalThis.lessons = (() => {
  // F.linear for one vector: its dot products with the rows of the weight. Four at a time, so that none waits for another.
  function linear({weight, bias}, x) {
    const width = x.length, rows = weight.length / width, y = new Float32Array(rows);
    let row = 0;
    for (; row + 3 < rows; row += 4) {
      const a = row * width, b = a + width, c = b + width, d = c + width;
      let first = 0, second = 0, third = 0, fourth = 0;
      for (let i = 0; i < width; i++) {
        first += weight[a + i] * x[i];
        second += weight[b + i] * x[i];
        third += weight[c + i] * x[i];
        fourth += weight[d + i] * x[i];
      }
      y[row] = first, y[row + 1] = second, y[row + 2] = third, y[row + 3] = fourth;
    }
    for (; row < rows; row++) for (let i = 0; i < width; i++) y[row] += weight[row * width + i] * x[i];
    return bias ? add(y, bias) : y;
  }

  const add = (x, y) => x.map((value, i) => value + y[i]);

  function layerNorm({weight, bias}, x, epsilon = 1e-5) {
    let mean = 0, variance = 0;
    for (const value of x) mean += value / x.length;
    for (const value of x) variance += (value - mean) ** 2 / x.length;
    return x.map((value, i) => (value - mean) / Math.sqrt(variance + epsilon) * weight[i] + bias[i]);
  }

  function softmax(scores) {
    let largest = -Infinity, total = 0;
    for (const score of scores) largest = Math.max(largest, score);
    const powers = scores.map(score => Math.exp(score - largest));
    for (const power of powers) total += power;
    return powers.map(power => power / total);
  }

  class RotaryPositions {
    constructor(dHead) { this.frequencies = Array.from({length: dHead / 2}, (_, pair) => 10000 ** (-2 * pair / dHead)); }

    forward(x, position) {  // turns each pair of features, in every head alike
      const {frequencies} = this, turned = new Float32Array(x.length);
      for (let i = 0; i < x.length; i += 2) {
        const angle = position * frequencies[i / 2 % frequencies.length], cos = Math.cos(angle), sin = Math.sin(angle);
        turned[i] = x[i] * cos - x[i + 1] * sin;
        turned[i + 1] = x[i] * sin + x[i + 1] * cos;
      }
      return turned;
    }
  }

  class MultiHeadAttention {
    constructor(part, numHeads, rotary) { Object.assign(this, part, {numHeads, rotary}); }

    // cache holds the keys and values of this layer so far; silent, the numbers of heads that contribute nothing.
    forward(x, cache, position, silent) {
      let query = linear(this.linear_q, x), key = linear(this.linear_k, x);
      if (this.rotary) query = this.rotary.forward(query, position), key = this.rotary.forward(key, position);
      const {keys, values} = cache;
      keys.set(key, position * x.length);
      values.set(linear(this.linear_v, x), position * x.length);
      const dHead = x.length / this.numHeads, output = new Float32Array(x.length), weights = [];
      for (let head = 0; head < this.numHeads; head++) {
        const scores = new Float32Array(position + 1), start = head * dHead;
        for (let at = 0, from = start; at <= position; at++, from += x.length) {
          let score = 0;
          for (let i = 0; i < dHead; i++) score += query[start + i] * keys[from + i];
          scores[at] = score / Math.sqrt(dHead);
        }
        weights.push(softmax(scores));
        if (silent?.has(head)) continue;
        for (let at = 0, from = start; at <= position; at++, from += x.length) {
          const weight = weights[head][at];
          for (let i = 0; i < dHead; i++) output[start + i] += weight * values[from + i];
        }
      }
      return [linear(this.linear_out, output), weights];
    }
  }

  class FeedForward {
    constructor(part) { Object.assign(this, part); }

    forward(x) {
      const hidden = linear(this.linear_in, x);
      if (!this.linear_gate) return linear(this.linear_out, hidden.map(value => Math.max(0, value)));
      const gate = linear(this.linear_gate, x).map(value => value / (1 + Math.exp(-value)));
      return linear(this.linear_out, hidden.map((value, i) => gate[i] * value));
    }
  }

  class SelfAttentionLayer {
    constructor(part, numHeads, rotary) {
      this.attention = new MultiHeadAttention(part.attention, numHeads, rotary);
      this.feedForward = new FeedForward(part.feed_forward);
      Object.assign(this, {norm1: part.norm_1, norm2: part.norm_2});
    }

    forward(x, cache, position, silent) {
      const [attended, weights] = this.attention.forward(layerNorm(this.norm1, x), cache, position, silent);
      x = add(x, attended);
      return [add(x, this.feedForward.forward(layerNorm(this.norm2, x))), weights];
    }
  }

  class LanguageModel {
    constructor(architecture, weights) {
      const rotary = architecture.rotary ? new RotaryPositions(architecture.d_model / architecture.num_heads) : null;
      this.architecture = architecture;
      this.embedding = weights.embedding;
      this.positions = rotary ? null : weights.positions.encoding;
      this.layers = Object.values(weights.layers).map(part => new SelfAttentionLayer(part, architecture.num_heads, rotary));
      this.norm = weights.norm;
    }

    newCache() {
      const size = this.architecture.max_length * this.architecture.d_model;
      return this.layers.map(() => ({keys: new Float32Array(size), values: new Float32Array(size)}));
    }

    // The logits after this token, the weights of every head, and the residual stream; silent has a set for each layer.
    forward(token, cache, position, silent = []) {
      const width = this.architecture.d_model, row = (table, at) => table.slice(at * width, (at + 1) * width);
      let x = row(this.embedding.weight, token), found;
      if (this.positions) x = add(x, row(this.positions, position));
      const weights = [], residuals = [x];
      this.layers.forEach((layer, number) => {
        [x, found] = layer.forward(x, cache[number], position, silent[number]);
        weights.push(found);
        residuals.push(x);
      });
      return {logits: this.readOut(x), weights, residuals};
    }

    readOut(x) { return linear(this.embedding, layerNorm(this.norm, x)); }  // of an earlier residual, it is the logit lens
  }

  // The chances of the next tokens, and the token at place u of 0 to 1 among them: u is what a generator would draw.
  function chances(logits, temperature, topK = logits.length) {
    if (temperature === 0) topK = temperature = 1;
    const least = topK < logits.length ? Float32Array.from(logits).sort().at(-topK) : -Infinity;
    return softmax(logits.map(logit => logit < least ? -Infinity : logit / temperature));
  }

  function sampleNext(probabilities, u) {
    let token = -1, place = u;
    while (place >= 0 && token < probabilities.length - 1) place -= probabilities[++token];
    while (!probabilities[token]) token--;
    return token;
  }

  return {LanguageModel, chances, sampleNext};
})();
