// Chapter 1: drag the query; weights = softmax(scale * keys . query), output = weighted sum of the values.

function explore(stage, data) {
  const { keys, values, labels, reach } = data;
  const ends = [-reach, reach];
  // Two squares and the table side by side where there is room for them.
  const beside = (stage.room - 316) / 2;
  const side = beside >= 220 ? Math.min(beside, 280) : Math.min(stage.room, 280);
  const names = { xlabel: "first entry", ylabel: "second entry" };
  const left = plot({
    ...names,
    title: "Keys and query",
    width: side,
    height: side,
    xs: ends,
    ys: ends,
    label: "Keys as arrows, and the query, which can be moved",
  });
  const right = plot({
    ...names,
    title: "Values and output",
    width: side,
    height: side,
    xs: data.box[0],
    ys: data.box[1],
    label: "Values, their convex hull and the output",
  });
  left.svg.setAttribute("role", "group");
  right.svg.setAttribute("role", "img");
  const table = numberTable("Weights", ["token", "score", "weight", "0 to 1"]);
  const point = ([a, b], decimals = 2) => `(${fixed(a, decimals)}, ${fixed(b, decimals)})`;
  let query = data.query;

  // The keys and the hull never change.
  for (const [i, key] of keys.entries()) {
    const far =
      key[0] ** 2 + key[1] ** 2 > 0
        ? 14 / Math.hypot(left.x(key[0]) - left.x(0), left.y(key[1]) - left.y(0))
        : 0;
    left.layer.append(
      arrow(left, key, "#0072b2"),
      element(
        "text",
        {
          x: left.x(key[0] * (1 + far)),
          y: left.y(key[1] * (1 + far)) + 4,
          "text-anchor": "middle",
          class: "explorable-halo",
        },
        labels[i],
      ),
    );
  }
  const hull = element("polygon", {
    points: through(
      right,
      data.hull.map((v) => v[0]),
      data.hull.map((v) => v[1]),
    ),
    fill: "#009e73",
    "fill-opacity": 0.15,
    stroke: "#009e73",
  });
  const moving = element("g");
  right.layer.append(hull, moving);

  const stem = element("g", { "aria-hidden": "true" });
  const handle = element("g", {
    tabindex: 0,
    role: "slider",
    "aria-label": "query",
    ...OWN_KEYS,
    "aria-roledescription": "point in the plane",
    "aria-valuemin": -reach,
    "aria-valuemax": reach,
  });
  handle.append(
    element("circle", { r: 20, class: "explorable-ring" }),
    element("circle", { r: 8, fill: "#d55e00", stroke: "#fff", "stroke-width": 2 }),
    element("text", { x: 12, y: -8, class: "explorable-halo", "aria-hidden": "true" }, "query"),
  );
  left.svg.append(stem, handle);

  const fields = ["first", "second"].map((which, axis) => {
    const input = element("input", { type: "number", step: 0.1, min: -reach, max: reach, ...OWN_KEYS });
    input.addEventListener("input", () => {
      if (input.value === "") return;
      const next = [...query];
      next[axis] = Number(input.value);
      move(next, input);
    });
    input.addEventListener("change", () => move(query));
    stage.controls.append(element("label", {}, `query, ${which} entry`, input));
    return input;
  });
  stage.controls.append(button("Start again", () => move(data.query)));
  stage.panels.append(left.svg, right.svg, table.node);

  function move(to, typing = null) {
    query = to.map((value) => clamp(value, -reach, reach));
    const scores = keys.map((key) => data.scale * dot(key, query));
    const weights = softmax(scores);
    const output = blend(weights, values);
    draw(scores, weights, output);
    fields.forEach((field, axis) => {
      if (field !== typing) field.value = Number(query[axis].toFixed(3));
    });
    const best = weights.indexOf(Math.max(...weights));
    stage.report(
      { query, scores, weights, output },
      `Query ${point(query)}, output ${point(output)}. ` +
        `Largest weight: ${labels[best]}, ${fixed(weights[best], 3)}.`,
    );
  }

  function draw(scores, weights, output) {
    handle.setAttribute("transform", `translate(${left.x(query[0])} ${left.y(query[1])})`);
    handle.setAttribute("aria-valuenow", query[0]);
    handle.setAttribute(
      "aria-valuetext",
      `first entry ${fixed(query[0])}, second entry ${fixed(query[1])}`,
    );
    stem.replaceChildren(
      element("line", {
        x1: left.x(0),
        y1: left.y(0),
        x2: left.x(query[0]),
        y2: left.y(query[1]),
        stroke: "#d55e00",
        "stroke-width": 2.2,
      }),
    );
    moving.replaceChildren();
    for (const [i, value] of values.entries()) {
      moving.append(
        element("line", {
          x1: right.x(value[0]),
          y1: right.y(value[1]),
          x2: right.x(output[0]),
          y2: right.y(output[1]),
          stroke: "#8a8a8a",
          "stroke-width": 0.5 + 6 * weights[i],
          "stroke-linecap": "round",
        }),
      );
    }
    for (const [i, [a, b]] of values.entries()) {
      moving.append(
        element("rect", {
          x: right.x(a) - 5,
          y: right.y(b) - 5,
          width: 10,
          height: 10,
          fill: "#009e73",
          stroke: "#fff",
        }),
        element("text", { x: right.x(a) + 8, y: right.y(b) - 7, class: "explorable-halo" }, labels[i]),
      );
    }
    const [x, y] = [right.x(output[0]), right.y(output[1])];
    moving.append(
      element("polygon", {
        points: `${x},${y - 9} ${x + 9},${y} ${x},${y + 9} ${x - 9},${y}`,
        stroke: "#fff",
        "stroke-width": 2,
      }),
      element("text", { x, y: y + 24, "text-anchor": "middle", class: "explorable-halo" }, "output"),
    );
    table.fill(
      labels.map((label, i) => {
        const bar = element("span", { class: "explorable-bar", style: `width: ${100 * weights[i]}%` });
        return [
          label,
          fixed(scores[i], 3),
          fixed(weights[i], 3),
          element("div", { class: "explorable-track" }, bar),
        ];
      }),
    );
  }

  // Round to a hundredth, so that what is shown is what is computed with.
  const settle = (value) => Number(value.toFixed(2));
  left.svg.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && !handle.contains(event.target)) {
      move(left.at(event).map(settle));
      handle.focus();
    }
  });
  drag(handle, (event) => move(left.at(event).map(settle)));
  arrows(handle, (dx, dy) => move([query[0] + 0.1 * dx, query[1] + 0.1 * dy].map(settle)));
  move(query);
}

/** An arrow from the origin of a plane to a point. */
function arrow(panel, [a, b], colour) {
  const [x0, y0, x1, y1] = [panel.x(0), panel.y(0), panel.x(a), panel.y(b)];
  const length = Math.hypot(x1 - x0, y1 - y0);
  const lines = element("g", { stroke: colour, "stroke-width": 2.2, "stroke-linecap": "round" });
  lines.append(element("line", { x1: x0, y1: y0, x2: x1, y2: y1 }));
  if (length < 1) return lines;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  for (const side of [-1, 1]) {
    lines.append(
      element("line", { x1, y1, x2: x1 - 9 * ux + side * 5 * uy, y2: y1 - 9 * uy - side * 5 * ux }),
    );
  }
  return lines;
}
