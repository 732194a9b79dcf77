// Chapter 5: softmax(Q_h K_h^T / sqrt(W)) of each slice of the columns, beside softmax(Q K^T / sqrt(D)).

function explore(stage, data) {
  const { tokens, keys, counts, reasons } = data;
  const count = tokens.length;
  const width = keys[0].length;
  const indices = tokens.map((_, i) => i);
  const loudness = Array.from({ length: 21 }, (_, i) => i / 10);
  const start = { heads: data.heads, row: data.row, louder: reasons.map(() => 1) };
  const state = { ...start };
  const longest = 7 * Math.max(...tokens.map((token) => token.length));
  const cell = stage.room < 400 ? 10 : 12;

  const picker = choice({ label: "query", names: tokens, start: data.row, moved: (row) => update({ row }) });
  const number = slider({
    label: "heads",
    values: counts,
    start: counts.indexOf(data.heads),
    name: String,
    moved: (heads) => update({ heads }),
  });
  const sliders = reasons.map((reason, i) =>
    slider({
      label: reason,
      values: loudness,
      start: loudness.indexOf(1),
      name: (value) => `\u00d7 ${fixed(value, 1)}`,
      moved: (value) => update({ louder: state.louder.map((old, j) => (j === i ? value : old)) }),
    }),
  );
  stage.controls.append(
    number.node,
    picker.node,
    ...sliders.map((each) => each.node),
    button("Start again", () => {
      number.set(counts.indexOf(start.heads));
      for (const each of sliders) each.set(loudness.indexOf(1));
      update(start);
    }),
  );

  // One map for the full width and one per slice, made once; those that are not needed are hidden.
  const maps = Array.from({ length: 1 + counts.at(-1) }, map);
  const gallery = element("div", { class: "explorable-panels", style: "margin-top: 0" });
  gallery.append(...maps.map((each) => each.svg));
  const products = numberTable("", ["slice", ...tokens]);
  const shares = numberTable("", ["slice", ...tokens]);
  const wide = (table, label) =>
    element(
      "div",
      { class: "explorable-scroll", tabindex: 0, role: "group", "aria-label": label, ...OWN_KEYS },
      table.node,
    );
  stage.panels.append(
    gallery,
    wide(products, "Table of dot products of the chosen query"),
    wide(shares, "Table of weights of the chosen query"),
  );
  const all = numberTable("Weights: a row per query, a column per key", ["map", "query", ...tokens]);
  const details = element(
    "details",
    {},
    element("summary", { ...OWN_KEYS }, "All weights as a table"),
    wide(all, "Table of all weights"),
  );
  details.addEventListener("toggle", () => update({}));
  stage.below.append(details);

  function map() {
    const [left, top] = [longest + 6, reasons.length ? 34 : 20];
    const [across, down] = [left + count * cell + 2, top + count * cell + longest + 8];
    const svg = element("svg", {
      viewBox: `0 0 ${across} ${down}`,
      width: across,
      height: down,
      role: "img",
    });
    const title = element("text", { x: 0, y: 12, class: "explorable-title" });
    const reason = element("text", { x: 0, y: 27, style: "font-size: 11px" });
    svg.append(title, reason);
    const small = { style: "font-size: 11px", "text-anchor": "end", "aria-hidden": "true" };
    const cells = indices.map((i) => {
      const [x, y] = [left + (i + 0.5) * cell + 4, top + count * cell + 5];
      svg.append(
        element("text", { x: left - 4, y: top + (i + 0.5) * cell + 4, ...small }, tokens[i]),
        element("text", { transform: `translate(${x} ${y}) rotate(-90)`, ...small }, tokens[i]),
      );
      return indices.map((j) => {
        const rect = element("rect", {
          x: left + j * cell,
          y: top + i * cell,
          width: cell - 0.5,
          height: cell - 0.5,
        });
        svg.append(rect);
        return rect;
      });
    });
    const frame = element("rect", {
      x: left - 1.5,
      width: count * cell + 2.5,
      height: cell + 2,
      fill: "none",
      stroke: "#d55e00",
      "stroke-width": 3,
    });
    svg.append(frame);
    svg.style.cursor = "pointer";
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const y = ((event.clientY - box.top) * down) / box.height;
      update({ row: clamp(Math.floor((y - top) / cell), 0, count - 1) });
    });
    const draw = (name, why, weights, row) => {
      title.textContent = name;
      reason.textContent = why;
      svg.setAttribute("aria-label", `Heat map of weights, ${name}, a row per query and a column per key`);
      weights.forEach((own, i) => own.forEach((weight, j) => paint(cells[i][j], weightColour(weight).fill)));
      frame.setAttribute("y", top + row * cell - 1.5);
    };
    return { svg, draw };
  }

  /** Dot products of all pairs over the columns from `first` to `last`. */
  const pairs = (queries, first, last) =>
    queries.map((query) => keys.map((key) => dot(query.slice(first, last), key.slice(first, last))));
  const weightsOf = (table, columns) =>
    table.map((own) => softmax(own.map((product) => product / Math.sqrt(columns))));

  function update(change) {
    Object.assign(state, change);
    const { heads, row, louder } = state;
    const part = width / Math.max(reasons.length, 1);
    const queries = data.queries.map((query) =>
      query.map((value, column) => value * (louder[Math.floor(column / part)] ?? 1)),
    );
    const columns = width / heads;
    const slices = Array.from({ length: heads }, (_, h) => pairs(queries, h * columns, (h + 1) * columns));
    const full = pairs(queries, 0, width);
    const sliceWeights = slices.map((table) => weightsOf(table, columns));
    const fullWeights = weightsOf(full, width);
    const sums = indices.map((j) => slices.reduce((sum, table) => sum + table[row][j], 0));

    picker.set(row);
    maps.forEach(({ svg, draw }, i) => {
      svg.style.display = i <= heads ? "" : "none";
      if (i <= heads) draw(nameOf(i - 1), reasonOf(i - 1), i ? sliceWeights[i - 1] : fullWeights, row);
    });
    const line = (name, values, decimals = 2) => [name, ...values.map((value) => fixed(value, decimals))];
    products.node.caption.textContent = `Dot products of "${tokens[row]}" with each key`;
    products.fill([
      ...slices.map((table, h) => line(nameOf(h), table[row])),
      line("sum of the slices", sums),
      line("full width", full[row]),
    ]);
    shares.node.caption.textContent = `Weights of "${tokens[row]}"`;
    shares.fill([
      ...sliceWeights.map((table, h) => line(nameOf(h), table[row], 3)),
      line("full width", fullWeights[row], 3),
    ]);
    if (details.open) {
      const named = [fullWeights, ...sliceWeights].map((table, i) => [nameOf(i - 1), table]);
      all.fill(
        named.flatMap(([name, table]) =>
          table.map((own, i) => [name, tokens[i], ...line("", own, 3).slice(1)]),
        ),
      );
    }
    const best = (weights) => {
      const at = weights.indexOf(Math.max(...weights));
      return `"${tokens[at]}" ${fixed(weights[at])}`;
    };
    const told = sliceWeights.flatMap((table, h) => {
      const own = table[row];
      return Math.max(...own) - Math.min(...own) > 1e-9 ? [`, slice ${h} ${best(own)}`] : [];
    });
    const rest = told.length < heads ? " In the other slices all weights are equal." : "";
    stage.report(
      { heads, row, louder, slices, full, sums, sliceWeights, fullWeights },
      `Query "${tokens[row]}", ${heads} ${heads === 1 ? "head" : "heads"} of width ${columns}. ` +
        `Largest weights: full width ${best(fullWeights[row])}${told.join("")}.${rest}`,
    );
  }

  const nameOf = (h) => (h < 0 ? "full width" : `slice ${h}`);

  /** What a map holds: everything, or the one reason of its slice. */
  function reasonOf(h) {
    if (h < 0) return state.heads > 1 ? "sees the sum" : "";
    return state.heads === reasons.length ? reasons[h] : "";
  }
  update({});
}

/** Colour a square, if it has another colour so far. */
function paint(square, fill) {
  if (square.getAttribute("fill") !== fill) square.setAttribute("fill", fill);
}
