// Chapter 4: click cells of a mask; softmax over what is left, row sums, and the later tokens that a row sees.

function explore(stage, data) {
  const { tokens, scores } = data;
  const count = tokens.length;
  const indices = tokens.map((_, i) => i);
  const start = data.mask.map((row) => row.map(Boolean));
  const state = { mask: start.map((row) => [...row]), late: false };
  const size = clamp(Math.floor((stage.room - 300) / count), 28, 44);
  const masks = {
    Causal: (i, j) => j <= i,
    All: () => true,
    "No diagonal": (i, j) => j < i,
    "One too far": (i, j) => j <= i + 1,
  };

  // The table is made once; `drawRow` writes into it.
  let at = [0, 0];
  const cells = indices.map((i) =>
    indices.map((j) =>
      element("button", {
        type: "button",
        tabindex: -1,
        ...OWN_KEYS,
        style: cellStyle("#fff", false, false),
        click: () => {
          reach(i, j);
          state.mask[i][j] = !state.mask[i][j];
          update(
            i,
            `Query ${tokens[i]} ${state.mask[i][j] ? "may attend to" : "no longer sees"} ${tokens[j]}.`,
          );
        },
      }),
    ),
  );
  const sums = indices.map(() => element("td", { style: "padding-left: 8px" }));
  const seen = indices.map(() => element("td", { style: "white-space: normal; text-align: left" }));
  const upright = "writing-mode: vertical-rl; transform: rotate(180deg); padding: 0; font-weight: normal";
  const header = (text, style) =>
    element("th", { scope: "col", style: `vertical-align: bottom; ${style}` }, text);
  const keys = tokens.map((token) =>
    header(
      element("span", { style: `${upright}; display: inline-block` }, token),
      "padding: 0; text-align: center",
    ),
  );
  const head = [
    header("query", "text-align: left"),
    ...keys,
    header("sum", "padding-left: 8px"),
    header("later tokens seen", "text-align: left; min-width: 72px"),
  ];
  const rows = indices.map((i) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row", style: "font-weight: normal; white-space: nowrap; padding: 0 6px 0 0" },
        tokens[i],
      ),
      ...cells[i].map((cell) => element("td", { style: "padding: 0" }, cell)),
      sums[i],
      seen[i],
    ),
  );
  const grid = element(
    "table",
    { class: "explorable-table" },
    element("caption", {}, "Weights: a row per query, a column per key, \u00b7 = hidden"),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
  arrows(grid, (dx, dy) => {
    reach(clamp(at[0] - dy, 0, count - 1), clamp(at[1] + dx, 0, count - 1));
    cells[at[0]][at[1]].focus();
  });

  function cellStyle(fill, light, leak) {
    return (
      `width: ${size}px; height: 28px; min-height: 28px; padding: 0; border-radius: 0; display: block; ` +
      `font-size: ${size < 34 ? 10 : 12}px; background: ${fill}; color: ${light ? "#fff" : "#000"}; ` +
      `border: 1px solid #8a8a8a; touch-action: manipulation` +
      (leak ? "; box-shadow: inset 0 0 0 3px #d55e00" : "")
    );
  }

  /** One cell at a time can be reached with Tab; the arrow keys lead to the others. */
  function reach(i, j) {
    cells[at[0]][at[1]].setAttribute("tabindex", -1);
    at = [i, j];
    cells[i][j].setAttribute("tabindex", 0);
  }

  const setAll = (rule) => indices.map((i) => indices.map((j) => rule(i, j)));
  const way = choice({
    label: "hidden cells",
    names: ["\u2212\u221e before softmax", "0 after softmax"],
    start: 0,
    moved: (late) => {
      state.late = Boolean(late);
      update();
    },
  });
  stage.controls.append(
    ...Object.entries(masks).map(([name, rule]) =>
      button(name, () => {
        state.mask = setAll(rule);
        update(null, `${name}.`);
      }),
    ),
    way.node,
    button("Start again", () => {
      Object.assign(state, { mask: start.map((row) => [...row]), late: false });
      way.set(0);
      update();
    }),
  );
  stage.panels.append(element("div", { class: "explorable-scroll" }, grid));

  function weightsOf(i) {
    const allowed = state.mask[i];
    const counted = indices.filter((j) => state.late || allowed[j]);
    const shares = counted.length ? softmax(counted.map((j) => scores[i][j])) : [];
    const weights = indices.map(() => 0);
    counted.forEach((j, k) => (weights[j] = allowed[j] ? shares[k] : 0));
    return weights;
  }

  /** Later tokens on which row i depends: those it attends to, or all that are in its sum. */
  function laterOf(i) {
    const every = state.late && state.mask[i].some(Boolean);
    return indices.filter((j) => j > i && (every || state.mask[i][j]));
  }

  let weights = [];
  let later = [];

  function drawRow(i) {
    weights[i] = weightsOf(i);
    later[i] = laterOf(i);
    cells[i].forEach((cell, j) => {
      const may = state.mask[i][j];
      const { fill, light } = may ? weightColour(weights[i][j]) : { fill: "#fff", light: false };
      const leak = may && j > i;
      cell.textContent = may ? fixed(weights[i][j]) : "\u00b7";
      cell.setAttribute("style", cellStyle(fill, light, leak));
      cell.setAttribute("aria-pressed", may);
      const said = may ? `${leak ? "a later token, " : ""}weight ${fixed(weights[i][j])}` : "\u00b7 hidden";
      cell.setAttribute("aria-label", `query ${tokens[i]}, key ${tokens[j]}: ${said}`);
    });
    sums[i].textContent = fixed(weights[i].reduce((sum, weight) => sum + weight, 0));
    const names = later[i].map((j) => tokens[j]);
    seen[i].textContent = !names.length
      ? "none"
      : names.length > 2
        ? `${names[0]} and ${names.length - 1} more`
        : names.join(", ");
  }

  function update(only = null, what = "") {
    weights = [...weights];
    later = [...later];
    for (const i of only === null ? indices : [only]) drawRow(i);
    const leaks = indices.filter((i) => later[i].length);
    const empty = indices.filter((i) => !state.mask[i].some(Boolean));
    const named = (rows) =>
      rows.length > 3 ? `${rows.length} of ${count}` : rows.map((i) => tokens[i]).join(", ");
    stage.report(
      { mask: state.mask.map((row) => row.map(Number)), late: state.late, weights, later, empty },
      `${what && `${what} `}Rows that see a later token: ${named(leaks) || "none"}. ` +
        `Rows that see nothing: ${named(empty) || "none"}.`,
    );
  }
  reach(0, 0);
  update();
}
