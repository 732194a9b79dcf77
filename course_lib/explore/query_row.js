// Chapter 2: weights = softmax(Q K^T / (temperature * sqrt(K))), one row of them, tokens that change places.

function explore(stage, data) {
  const { tokens, queries, keys, values, contents, temperatures } = data;
  const count = tokens.length;
  const longest = Math.max(...tokens.map((token) => token.length));
  const left = 24 + 7.5 * longest;
  const size = clamp((Math.min(stage.room, 520) - left - 8) / count, 24, 46);
  const [top, tall, barHeight] = [26, 34, 110];
  const below = top + count * tall;
  const barBase = below + 44 + barHeight;
  const bottom = barBase + (7.5 * longest > size ? 20 + 6 * longest : 26);
  const across = left + count * size + 8;
  const svg = element("svg", {
    viewBox: `0 0 ${across} ${bottom}`,
    width: across,
    height: bottom,
    role: "img",
    "aria-label": "Heat map of weights, a row per query and a column per key; the chosen row as bars",
  });
  const state = { order: tokens.map((_, i) => i), row: data.row, temperature: data.temperature };
  const place = (node, x, y) => (node.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`);
  const piece = (...children) => element("g", { class: "explorable-moves" }, ...children);

  // One piece per token or pair of tokens, made once; `arrange` puts them in their places.
  const middle = { "text-anchor": "middle" };
  const rowNames = tokens.map((t) =>
    piece(element("text", { x: left - 6, y: tall / 2 + 4, "text-anchor": "end" }, t)),
  );
  const turned = 7.5 * longest > size;
  const slanted = { "text-anchor": "end", transform: `translate(${size / 2 + 5} -4) rotate(-50)` };
  const columnNames = tokens.map((t) =>
    piece(element("text", turned ? slanted : { x: size / 2, ...middle }, t)),
  );
  const cells = tokens.map((_, i) =>
    tokens.map(() => {
      const rect = element("rect", { width: size - 1, height: tall - 1 });
      const text = element("text", {
        x: size / 2,
        y: tall / 2 + 4,
        ...middle,
        style: `font-size: ${size < 34 ? 9.5 : 12}px`,
      });
      const node = piece(rect, text);
      node.addEventListener("click", () => update({ row: i }));
      node.style.cursor = "pointer";
      return { node, rect, text };
    }),
  );
  const bars = tokens.map(() => {
    const rect = element("rect", { x: size * 0.15, width: size * 0.7, fill: "#d55e00" });
    const text = element("text", {
      x: size / 2,
      ...middle,
      class: "explorable-halo",
      style: `font-size: ${size < 34 ? 9.5 : 12}px`,
    });
    return { node: piece(rect, text), rect, text };
  });
  const frame = piece(
    element("rect", {
      x: left - 1.5,
      y: -1.5,
      width: count * size + 2,
      height: tall + 2,
      fill: "none",
      stroke: "#d55e00",
      "stroke-width": 3,
    }),
  );
  const chosen = element("text", { x: left, y: below + 36, class: "explorable-title" });
  const base = { x1: left, x2: left + count * size, stroke: "#1a1a1a" };
  svg.append(
    element("text", { x: left, y: 14, class: "explorable-title" }, "Weights (columns: keys)"),
    element("text", { x: left - 6, y: 14, "text-anchor": "end" }, "query"),
    ...rowNames,
    ...columnNames,
    ...cells.flat().map((cell) => cell.node),
    frame,
    chosen,
    ...bars.map((bar) => bar.node),
    element("line", { ...base, y1: barBase, y2: barBase }),
  );

  const sliderStart = temperatures.indexOf(data.temperature);
  const picker = choice({ label: "query", names: tokens, start: data.row, moved: (row) => update({ row }) });
  const heat = slider({
    label: "temperature",
    values: temperatures,
    start: sliderStart,
    moved: (temperature) => update({ temperature }),
  });
  const shift = (step) => () => {
    const order = [...state.order];
    const from = order.indexOf(state.row);
    const to = from + step;
    if (to < 0 || to >= count) return;
    [order[from], order[to]] = [order[to], order[from]];
    update({ order });
  };
  stage.controls.append(
    picker.node,
    heat.node,
    button("Move token earlier", shift(-1)),
    button("Move token later", shift(1)),
    button("Reverse order", () => update({ order: [...state.order].reverse() })),
    button("Start again", () => {
      heat.set(sliderStart);
      update({ order: tokens.map((_, i) => i), row: data.row, temperature: data.temperature });
    }),
  );
  const outputs = values && numberTable("Outputs", ["query", ...contents]);
  const all = numberTable("Weights: a row per query, a column per key", ["query", ...tokens]);
  stage.panels.append(svg, ...(outputs ? [outputs.node] : []));
  const scroll = element(
    "div",
    {
      class: "explorable-scroll",
      tabindex: 0,
      role: "group",
      "aria-label": "Table of all weights",
      ...OWN_KEYS,
    },
    all.node,
  );
  stage.below.append(
    element("details", {}, element("summary", { ...OWN_KEYS }, "All weights as a table"), scroll),
  );

  function update(change) {
    Object.assign(state, change);
    const { order, row, temperature } = state;
    const divisor = temperature * Math.sqrt(keys[0].length);
    const weights = order.map((i) => softmax(order.map((j) => dot(queries[i], keys[j]) / divisor)));
    const output =
      values &&
      weights.map((each) =>
        blend(
          each,
          order.map((j) => values[j]),
        ),
      );
    picker.set(row);
    arrange(weights);
    const names = order.map((i) => tokens[i]);
    all.rename(["query", ...names]);
    all.fill(weights.map((each, i) => [names[i], ...each.map((weight) => fixed(weight, 3))]));
    outputs?.fill(output.map((each, i) => [names[i], ...each.map((value) => fixed(value))]));
    const own = weights[order.indexOf(row)];
    const best = own.indexOf(Math.max(...own));
    stage.report(
      { order, row, temperature, weights, output },
      `Query "${tokens[row]}", temperature ${digits(temperature)}: ` +
        `largest weight ${fixed(own[best], 3)} on "${names[best]}". ` +
        `Order: ${names.join(", ")}.`,
    );
  }

  function arrange(weights) {
    const { order, row } = state;
    chosen.textContent = `Row of "${tokens[row]}"`;
    order.forEach((token, i) => {
      place(rowNames[token], 0, top + i * tall);
      place(columnNames[token], left + i * size, barBase + 16);
      order.forEach((other, j) => {
        const cell = cells[token][other];
        const colour = weightColour(weights[i][j]);
        cell.rect.setAttribute("fill", colour.fill);
        cell.text.textContent = fixed(weights[i][j]);
        cell.text.setAttribute("class", colour.light ? "explorable-light" : "explorable-dark");
        place(cell.node, left + j * size, top + i * tall);
      });
    });
    const at = order.indexOf(row);
    place(frame, 0, top + at * tall);
    order.forEach((token, j) => {
      const height = weights[at][j] * (barHeight - 18);
      bars[token].rect.setAttribute("height", height);
      bars[token].rect.setAttribute("y", -height);
      bars[token].text.setAttribute("y", -height - 4);
      bars[token].text.textContent = fixed(weights[at][j]);
      place(bars[token].node, left + j * size, barBase);
    });
  }
  update({});
}
