// A model from a file, and its tokens: checkpoints.py, tokenization.py and byte_pairs.py again, as far as reading needs them.
Object.assign(globalThis.lessons, (() => {
  // The weights and the text in a safetensors file whose numbers are half precision, or single.
  function readModel(bytes) {
    const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
    const {content} = JSON.parse(header.__metadata__.transformer_lessons), singles = allHalves();
    const numbers = ({tensor}) => {
      const {dtype, data_offsets: [begin, end]} = header[tensor], part = bytes.slice(8 + size + begin, 8 + size + end);
      count += part.length / (dtype === 'F32' ? 4 : 2);
      if (dtype === 'F32') return new Float32Array(part.buffer);
      const halves = new Uint16Array(part.buffer), found = new Float32Array(halves.length);
      for (let i = 0; i < halves.length; i++) found[i] = singles[halves[i]];
      return found;
    };
    const weights = {};
    let count = 0;
    for (const [name, tensor] of Object.entries(content.model)) {  // layers.0.norm_1.bias → weights.layers[0].norm_1.bias
      const path = name.split('.'), last = path.pop();
      path.reduce((part, step) => part[step] ??= {}, weights)[last] = numbers(tensor);
    }
    const vocabulary = content.merges ? new BytePairs(content.merges) : new Vocabulary(content.pieces);
    return {model: new lessons.LanguageModel(content.architecture, weights), vocabulary, count};
  }

  // Every number of half precision: a sign, five bits of exponent, ten of fraction.
  function allHalves() {
    return Float32Array.from({length: 65536}, (_, bits) => {
      const sign = bits >> 15 ? -1 : 1, exponent = bits >> 10 & 31, fraction = (bits & 1023) / 1024;
      if (exponent === 31) return fraction ? NaN : sign * Infinity;
      return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
    });
  }

  const bytesOf = text => [...new TextEncoder().encode(text)];

  // Words and what stands between them; others are spelled in characters, other characters in bytes.
  class Vocabulary {
    constructor(pieces) {
      this.ids = new Map(pieces.map((piece, number) => [piece, 256 + number]));
      this.tokens = [...Array(256).keys()].map(byte => [byte]).concat(pieces.map(bytesOf));
    }

    encode(text) { return this.cut(text).flatMap(word => this.ids.get(word) ?? this.spell(word)); }

    cut(text) { return text.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]+/gu) ?? []; }

    spell(word) { return [...word].flatMap(character => this.ids.get(character) ?? bytesOf(character)); }

    decode(ids) { return new TextDecoder().decode(Uint8Array.from([...ids].flatMap(id => this.tokens[id]))); }
  }

  // GPT-2's tokens: a word is split into bytes, written as letters, and the pair of lowest rank is merged first.
  class BytePairs extends Vocabulary {
    constructor(pieces) {
      super([]);
      const seen = [...Array(256).keys()].filter(byte => byte > 32 && byte < 127 || byte > 160 && byte !== 173);
      const unseen = [...Array(256).keys()].filter(byte => !seen.includes(byte));
      this.letters = [];
      seen.forEach(byte => { this.letters[byte] = String.fromCharCode(byte); });
      unseen.forEach((byte, number) => { this.letters[byte] = String.fromCharCode(256 + number); });
      const merges = pieces.filter(piece => piece.includes(' '));
      this.special = pieces.filter(piece => !piece.includes(' '));
      this.ranks = new Map(merges.map((merge, rank) => [merge, rank]));
      const names = [...[...seen, ...unseen].map(byte => this.letters[byte]), ...merges.map(merge => merge.replace(' ', ''))];
      this.ids = new Map([...names, ...this.special].map((name, number) => [name, number]));
      const byte = new Map(this.letters.map((letter, byte) => [letter, byte]));
      this.tokens = [...names.map(name => [...name].map(letter => byte.get(letter))), ...this.special.map(bytesOf)];
    }

    encode(text) {
      return this.cut(text).flatMap(word => this.special.includes(word) ? this.ids.get(word) : this.spell(word));
    }

    cut(text) {
      const space = '\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
      const words = RegExp(`'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^${space}\\p{L}\\p{N}]+|[${space}]+(?![^${space}])|[${space}]+`, 'gu');
      if (!this.special.length) return text.match(words) ?? [];
      const special = this.special.map(token => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
      return text.split(RegExp(`(${special})`)).flatMap(part => this.special.includes(part) ? [part] : part.match(words) ?? []);
    }

    spell(word) {
      let parts = bytesOf(word).map(byte => this.letters[byte]);
      for (;;) {
        const pairs = parts.slice(1).map((part, i) => `${parts[i]} ${part}`).filter(pair => this.ranks.has(pair));
        if (!pairs.length) return parts.map(part => this.ids.get(part));
        const best = pairs.reduce((one, other) => this.ranks.get(other) < this.ranks.get(one) ? other : one);
        parts = parts.reduce((merged, part) => {
          if (`${merged.at(-1)} ${part}` === best) return [...merged.slice(0, -1), merged.at(-1) + part];
          return [...merged, part];
        }, []);
      }
    }
  }

  function fromBase64(parts) {
    const texts = parts.map(atob), bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.length, 0));
    let at = 0;
    for (const text of texts) for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    return bytes;
  }

  return {readModel, fromBase64, Vocabulary, BytePairs};
})());
