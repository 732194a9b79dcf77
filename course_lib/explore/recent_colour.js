// Chapter 7: x = token row + share * position row; the last token asks; two colours may change places.

function explore(stage, data) {
  const { tokens, answers, tokenRows, positionRows, W_q, W_k, valueLogits, places, shares } = data;
  const count = tokens.length;
  const longest = Math.max(...tokens.map((token) => token.length));
  const tall = 130;
  const top = 40;
  const bottom = top + tall + 18 + 6.5 * longest;
  const room = Math.min(stage.room, 860);
  const state = { swapped: false, share: data.share };

  // Bars that are made once; `arrange` gives them their heights.
  function chart(title, names, width, fill) {
    const size = (width - 12) / names.length;
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${bottom}`,
      width,
      height: bottom,
      role: "img",
      "aria-label": title,
    });
    const base = top + tall;
    const bars = names.map((name, i) => {
      const x = 6 + i * size;
      const rect = element("rect", { x: x + size * 0.15, width: size * 0.7, fill });
      const value = element("text", {
        x: x + size / 2,
        "text-anchor": "middle",
        class: "explorable-halo",
        style: "font-size: 10.5px",
      });
      const turned = `translate(${x + size / 2 + 4} ${base + 14}) rotate(-50)`;
      const label = element("text", { "text-anchor": "end", transform: turned }, name);
      svg.append(rect, value, label);
      return { rect, value, label };
    });
    svg.append(
      element("text", { x: 6, y: 14, class: "explorable-title" }, title),
      element("line", { x1: 6, x2: width - 6, y1: base, y2: base, stroke: "#1a1a1a" }),
    );
    const draw = (values, labels) =>
      bars.forEach(({ rect, value, label }, i) => {
        const height = values[i] * tall;
        rect.setAttribute("height", height);
        rect.setAttribute("y", base - height);
        value.setAttribute("y", base - height - 4);
        value.textContent = values[i] < 0.005 ? "" : fixed(values[i]);
        label.textContent = labels[i];
      });
    return { svg, draw };
  }
  const narrow = room < 640;
  const across = narrow ? room : room * 0.7;
  const looks = chart("Weights of the last token", tokens, across, "#d55e00");
  const says = chart("Probability of the next token", answers, narrow ? room : room * 0.24, "#0072b2");
  const listed = numberTable("Numbers of this order", ["token", "score", "weight"]);
  const start = shares.indexOf(data.share);
  const turn = slider({
    label: "share of the positions",
    values: shares,
    start,
    name: (value) => fixed(value),
    moved: (share) => update({ share }),
  });
  stage.controls.append(
    button("Exchange the two colours", () => update({ swapped: !state.swapped })),
    turn.node,
    button("Start again", () => {
      turn.set(start);
      update({ swapped: false, share: data.share });
    }),
  );
  stage.panels.append(looks.svg, says.svg);
  const scroll = element(
    "div",
    {
      class: "explorable-scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Table of scores and weights",
      ...OWN_KEYS,
    },
    listed.node,
  );
  stage.below.append(
    element("details", {}, element("summary", { ...OWN_KEYS }, "Scores and weights as a table"), scroll),
  );

  const times = (row, matrix) => matrix[0].map((_, j) => row.reduce((sum, x, i) => sum + x * matrix[i][j], 0));

  function read(swapped, share) {
    const order = tokens.map((_, i) => i);
    if (swapped) [order[places[0]], order[places[1]]] = [places[1], places[0]];
    const rows = order.map((from, at) => tokenRows[from].map((x, i) => x + share * positionRows[at][i]));
    const query = times(rows[count - 1], W_q);
    const scores = rows.map((row) => dot(query, times(row, W_k)) / Math.sqrt(query.length));
    const weights = softmax(scores);
    const probabilities = softmax(
      blend(
        weights,
        order.map((from) => valueLogits[from]),
      ),
    );
    const names = order.map((from) => tokens[from]);
    const target = answers.indexOf(names[places[1]]);
    return { names, scores, weights, probabilities, target, loss: -Math.log(probabilities[target]) };
  }

  function update(change) {
    Object.assign(state, change);
    const { swapped, share } = state;
    const now = read(swapped, share);
    const loss = (now.loss + read(!swapped, share).loss) / 2;
    const { names, scores, weights, probabilities, target } = now;
    looks.draw(weights, names);
    says.draw(probabilities, answers);
    listed.fill(names.map((name, i) => [`${i + 1} ${name}`, fixed(scores[i]), fixed(weights[i], 3)]));
    const colours = places.map((at) => `"${names[at]}" ${fixed(weights[at], 3)}`).join(", ");
    stage.report(
      { swapped, share, weights, probabilities, loss },
      `Positions at ${fixed(share)}. Weights: ${colours}. Right would be "${answers[target]}", which has ` +
        `probability ${fixed(probabilities[target], 3)}. Mean loss of the two orders: ${fixed(loss, 3)}.`,
    );
  }
  update({});
}
