// Chapter 7: x = token row + share * position row; the last token asks; two colours may change places.

function explore(stage, data) {
  const { tokens, answers, tokenRows, positionRows, W_q, W_k, valueLogits, places, shares } = data;
  const count = tokens.length;
  const room = Math.min(stage.room, 860);
  const state = { swapped: false, share: data.share };

  const narrow = room < 640;
  const across = narrow ? room : room * 0.7;
  const looks = barChart("Weights of the last token", tokens, across, "#d55e00");
  const says = barChart("Probability", answers, narrow ? room : room * 0.24, "#0072b2");
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
      role: "group",
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
