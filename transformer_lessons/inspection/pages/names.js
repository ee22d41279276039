  // Names stand beside their points, best on the side away from the middle, where they cover no point and no other name.
  function nameAll(points, middle, size, taken = []) {
    const around = ([x, y], wide, high) => [x - wide, y - high, x + wide, y + high];
    const shared = (one, other) => [0, 1].reduce((area, i) => area * Math.max(0, Math.min(one[i + 2], other[i + 2]) - Math.max(one[i], other[i])), 1);
    const full = [...taken, ...points.map(({at}) => around(at, 13, 13))];
    for (const {label, at} of points) {
      const half = label.getComputedTextLength() / 2, out = Math.atan2(at[1] - middle[1], at[0] - middle[0]);
      const places = [0, 1, -1, 2, -2, 3, -3, 4].map(eighth => {
        const angle = out + eighth * Math.PI / 4, x = at[0] + (half + 16) * Math.cos(angle), y = at[1] + 23 * Math.sin(angle);
        const box = around([Math.min(Math.max(x, half), size - half), y], half, 8);
        return {box, cost: sum(full.map(other => shared(box, other))) + Math.abs(eighth)};
      });
      const {box} = places.reduce((best, one) => one.cost < best.cost ? one : best);
      full.push(box);
      set(label, {x: (box[0] + box[2]) / 2, y: box[3] - 3});
    }
  }
