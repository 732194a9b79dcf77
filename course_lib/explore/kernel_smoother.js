// Chapter 1: kernel regression with a movable width and query, beside nearest neighbours.

function explore(stage, data) {
  const { x, y, grid, truth, widths } = data;
  const [low, high] = [Math.min(...y), Math.max(...y)];
  const margin = 0.08 * (high - low || 1);
  const span = grid[grid.length - 1] - grid[0];
  const xs = [grid[0] - 0.02 * span, grid[grid.length - 1] + 0.02 * span];
  const across = Math.min(stage.room > 700 ? stage.room - 290 : stage.room, 560);
  const panel = plot({
    title: truth ? "Points, true curve (dashed), three averages" : "Points and three averages of them",
    width: across,
    height: 290,
    xs,
    ys: [low - margin, high + margin],
    xlabel: "x",
    ylabel: "y",
    label: "Noisy points, the smoothed curve and two nearest-neighbour curves",
  });
  const bars = plot({
    title: "Weight of each point for the query",
    width: across,
    height: 130,
    xs,
    ys: [0, 1],
    xlabel: "x",
    ylabel: "weight",
    yticks: [],
    label: "Weight of each point for the query",
  });
  panel.svg.setAttribute("role", "img");
  bars.svg.setAttribute("role", "img");
  panel.svg.style.cursor = "ew-resize";
  panel.svg.style.touchAction = "pan-y";
  const state = { width: data.width, neighbours: data.neighbours, query: (grid.length - 1) / 2 };
  const columns = ["average", "at the query"];
  if (truth) columns.push("mean squared error");
  const table = numberTable("Three averages", columns);

  for (const [i, value] of x.entries()) {
    panel.layer.append(element("circle", { cx: panel.x(value), cy: panel.y(y[i]), r: 3, fill: "#737373" }));
  }
  const line = (colour, width, dash = "") => {
    const node = element("polyline", {
      fill: "none",
      stroke: colour,
      "stroke-width": width,
      "stroke-dasharray": dash,
    });
    panel.layer.append(node);
    return node;
  };
  if (truth) line("#000", 1.3, "5 4").setAttribute("points", through(panel, x, truth));
  const lines = [line("#e69f00", 1.8, "1.5 3"), line("#d55e00", 1.8), line("#0072b2", 3)];
  const moving = element("g");
  const stems = element("g");
  panel.layer.append(moving);
  bars.layer.append(stems);

  const sliders = {
    width: slider({
      label: "bandwidth h",
      values: widths,
      start: widths.indexOf(data.width),
      moved: (value) => update({ width: value }),
    }),
    neighbours: slider({
      label: "neighbours",
      values: x.map((_, i) => i + 1),
      start: data.neighbours - 1,
      moved: (value) => update({ neighbours: value }),
    }),
    query: slider({
      label: "query",
      values: grid,
      start: state.query,
      name: (value) => fixed(value),
      moved: (_, index) => update({ query: index }),
    }),
  };
  stage.controls.append(...Object.values(sliders).map((each) => each.node));
  stage.controls.append(
    button("Start again", () => {
      sliders.width.set(widths.indexOf(data.width));
      sliders.neighbours.set(data.neighbours - 1);
      point((grid.length - 1) / 2, { width: data.width, neighbours: data.neighbours });
    }),
  );
  const pictures = element("div", {}, panel.svg, bars.svg);
  stage.panels.append(pictures, table.node);

  const weightsAt = (q) => softmax(x.map((value) => -((q - value) ** 2) / (2 * state.width ** 2)));
  const smoothAt = (q) => dot(weightsAt(q), y);
  const meanOfNearest = (q, count) => {
    const order = x.map((_, i) => i).sort((a, b) => Math.abs(q - x[a]) - Math.abs(q - x[b]) || a - b);
    return order.slice(0, count).reduce((sum, i) => sum + y[i], 0) / count;
  };
  const averages = [(q) => meanOfNearest(q, 1), (q) => meanOfNearest(q, state.neighbours), smoothAt];
  const error = (average) => x.reduce((sum, q, i) => sum + (average(q) - truth[i]) ** 2, 0) / x.length;

  function update(change) {
    Object.assign(state, change);
    const q = grid[state.query];
    const curves = averages.map((average) => grid.map(average));
    const [nearest, nearestK, smoothed] = averages.map((average) => average(q));
    const errors = truth ? averages.map(error) : null;
    const weights = weightsAt(q);
    curves.forEach((curve, i) => lines[i].setAttribute("points", through(panel, grid, curve)));
    draw(q, smoothed, weights);
    const names = [
      "nearest point",
      `mean of the ${state.neighbours} nearest`,
      `smoothed, bandwidth ${digits(state.width)}`,
    ];
    const values = [nearest, nearestK, smoothed];
    const signs = ["#e69f00", "#d55e00", "#0072b2"];
    table.fill(
      names.map((name, i) => {
        const key = element(
          "span",
          { style: `border-left: 14px ${i ? "solid" : "dotted"} ${signs[i]}; padding-left: 6px` },
          name,
        );
        const row = [key, fixed(values[i])];
        return truth ? [...row, fixed(errors[i], 3)] : row;
      }),
    );
    const largest = Math.max(...weights);
    stage.report(
      {
        width: state.width,
        neighbours: state.neighbours,
        query: q,
        weights,
        nearest,
        nearestK,
        smoothed,
        curves,
        errors,
      },
      `Bandwidth ${digits(state.width)}, query ${fixed(q)}: smoothed value ${fixed(smoothed)}, ` +
        `largest weight ${fixed(largest, 3)}.`,
    );
  }

  function draw(q, smoothed, weights) {
    const [left, right] = [panel.x(q), panel.y(smoothed)];
    moving.replaceChildren(
      element("line", { x1: left, x2: left, y1: 24, y2: 250, stroke: "#1a1a1a", "stroke-dasharray": "2 3" }),
      element("circle", { cx: left, cy: right, r: 6, fill: "#0072b2", stroke: "#fff", "stroke-width": 2 }),
    );
    const largest = Math.max(...weights);
    const top = x[weights.indexOf(largest)];
    stems.replaceChildren(
      ...x.map((value, i) =>
        element("line", {
          x1: bars.x(value),
          x2: bars.x(value),
          y1: bars.y(0),
          y2: bars.y(weights[i] / largest),
          stroke: "#0072b2",
          "stroke-width": 3,
        }),
      ),
      element("text", { x: bars.x(top) + 6, y: bars.y(1) + 10, class: "explorable-halo" }, fixed(largest, 3)),
    );
  }

  function point(index, change = {}) {
    sliders.query.set(index);
    update({ ...change, query: index });
  }
  const toIndex = (event) => Math.round(((panel.at(event)[0] - grid[0]) / span) * (grid.length - 1));
  drag(panel.svg, (event) => point(clamp(toIndex(event), 0, grid.length - 1)));
  update({});
}
