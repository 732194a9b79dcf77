// Chapter 3: weights of random scores |q| z, unscaled and divided by the root of the width, at eleven widths.

function explore(stage, data) {
  const { widths, lengths, normals, temperatures } = data;
  const kinds = [
    { name: "unscaled", colour: "#d55e00", divisor: () => 1 },
    { name: "divided by \u221ad_k", colour: "#0072b2", divisor: Math.sqrt },
  ];
  const counts = Array.from({ length: normals[0].length - 1 }, (_, i) => i + 2);
  const start = { keys: data.keys, at: widths.indexOf(data.width), temperature: data.temperature, draw: 0 };
  const state = { ...start };
  const across = stage.room >= 700 ? Math.min((stage.room - 34) / 3, 280) : Math.min(stage.room, 280);
  const bars = element("svg", {
    viewBox: `0 0 ${across} 250`,
    width: across,
    height: 250,
    role: "img",
    "aria-label": "Weights of one draw at the marked width, unscaled above, scaled below",
  });
  const powers = widths.map((_, i) => i);
  const axis = {
    width: across,
    height: 250,
    xs: [-0.3, powers.length - 0.7],
    xlabel: "width d_k",
    xticks: [0, 2, 4, 6, 8, 10],
    xname: (power) => String(widths[power]),
  };
  const curves = [
    plot({
      ...axis,
      title: "Mean largest weight",
      ys: [0, 1],
      yticks: [0, 0.25, 0.5, 0.75, 1],
      ylabel: "largest weight",
      label: "Mean largest weight against the width, unscaled and scaled",
    }),
    plot({
      ...axis,
      title: "Mean entropy",
      ys: [0, 3.5],
      yticks: [0, 1, 2, 3],
      ylabel: "entropy (nats)",
      label: "Mean entropy against the width, unscaled and scaled",
    }),
  ];
  const table = numberTable("At the marked width", ["scores", "largest", "mean largest", "mean entropy"]);
  const sliders = {
    keys: slider({ label: "keys", values: counts, start: state.keys - 2, moved: (keys) => update({ keys }) }),
    at: slider({
      label: "width",
      values: widths,
      start: state.at,
      name: String,
      moved: (_, at) => update({ at }),
    }),
    temperature: slider({
      label: "temperature",
      values: temperatures,
      start: temperatures.indexOf(data.temperature),
      moved: (temperature) => update({ temperature }),
    }),
  };
  stage.controls.append(
    ...Object.values(sliders).map((each) => each.node),
    button("Another draw", () => update({ draw: (state.draw + 1) % lengths.length })),
    button("Start again", () => {
      sliders.keys.set(start.keys - 2);
      sliders.at.set(start.at);
      sliders.temperature.set(temperatures.indexOf(start.temperature));
      update(start);
    }),
  );
  for (const curve of curves) {
    curve.svg.setAttribute("role", "img");
    curve.svg.style.cursor = "ew-resize";
    curve.svg.style.touchAction = "pan-y";
    drag(curve.svg, (event) => {
      const at = clamp(Math.round(curve.at(event)[0]), 0, widths.length - 1);
      sliders.at.set(at);
      update({ at });
    });
  }
  stage.panels.append(bars, ...curves.map((curve) => curve.svg), table.node);

  const weightsOf = (kind, draw, at) => {
    const divisor = kind.divisor(widths[at]) * state.temperature;
    return softmax(normals[draw].slice(0, state.keys).map((z) => (lengths[draw][at] * z) / divisor));
  };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const sweepOf = (kind) =>
    widths.map((_, at) => {
      const weights = lengths.map((_, draw) => weightsOf(kind, draw, at));
      return [mean(weights.map((each) => Math.max(...each))), mean(weights.map(entropy))];
    });
  let sweeps = [];

  function update(change) {
    const stale = !sweeps.length || "keys" in change || "temperature" in change;
    Object.assign(state, change);
    if (stale) sweeps = kinds.map(sweepOf);
    const weights = kinds.map((kind) => weightsOf(kind, state.draw, state.at));
    drawBars(weights);
    curves.forEach(drawCurve);
    table.fill(
      kinds.map((kind, i) => {
        const key = element(
          "span",
          { style: `border-left: 14px solid ${kind.colour}; padding-left: 6px` },
          kind.name,
        );
        return [
          key,
          fixed(Math.max(...weights[i]), 3),
          ...sweeps[i][state.at].map((value) => fixed(value, 3)),
        ];
      }),
    );
    const width = widths[state.at];
    const [[raw], [scaled]] = sweeps.map((sweep) => sweep[state.at]);
    stage.report(
      { keys: state.keys, width, temperature: state.temperature, draw: state.draw, weights, sweeps },
      `${state.keys} keys, width ${width}, temperature ${digits(state.temperature)}: mean largest weight ` +
        `${fixed(raw, 3)} unscaled, ${fixed(scaled, 3)} scaled.`,
    );
  }

  function drawBars(weights) {
    const room = (across - 10) / state.keys;
    bars.replaceChildren(
      element(
        "text",
        { x: 4, y: 14, class: "explorable-title" },
        `Weights of draw ${state.draw + 1}, width ${widths[state.at]}`,
      ),
    );
    weights.forEach((each, i) => {
      const base = 125 + 112 * i;
      bars.append(element("text", { x: 4, y: base - 86 }, kinds[i].name));
      for (const [j, weight] of each.entries()) {
        bars.append(
          element("rect", {
            x: 4 + j * room,
            y: base - 80 * weight,
            width: room * 0.8,
            height: 80 * weight,
            fill: kinds[i].colour,
          }),
        );
      }
      bars.append(element("line", { x1: 4, x2: across - 6, y1: base, y2: base, stroke: "#1a1a1a" }));
    });
  }

  function drawCurve(curve, column) {
    const x = curve.x(state.at);
    curve.layer.replaceChildren(
      element("line", { x1: x, x2: x, y1: 24, y2: 210, stroke: "#1a1a1a", "stroke-dasharray": "3 3" }),
      ...kinds.flatMap((kind, i) => {
        const values = sweeps[i].map((pair) => pair[column]);
        return [
          element("polyline", {
            points: through(curve, powers, values),
            fill: "none",
            stroke: kind.colour,
            "stroke-width": 2.4,
            "stroke-dasharray": i ? "6 3" : "",
          }),
          ...powers.map((power) =>
            element("circle", { cx: curve.x(power), cy: curve.y(values[power]), r: 3, fill: kind.colour }),
          ),
        ];
      }),
    );
  }
  update({});
}
