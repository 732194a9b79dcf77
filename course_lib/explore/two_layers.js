// Chapter 7: two subjects, one of them asked; one layer or two with residual paths and a causal mask.

function explore(stage, data) {
  const { models, texts, asked, colours, places } = data;
  const room = Math.min(stage.room, 860);
  const narrow = room < 640;
  const state = { ...data.start };

  const product = (rows, matrix) =>
    rows.map((row) => matrix[0].map((_, j) => row.reduce((sum, x, i) => sum + x * matrix[i][j], 0)));

  /** What a model with so many layers makes of one text: each layer's scores and weights, and the logits. */
  function read(model, layers, text, positions) {
    let X = text.ids.map((id, at) =>
      model.embedding[id].map((x, i) => x + (positions ? model.place[at][i] : 0)),
    );
    const looks = [];
    for (let layer = 1; layer <= layers; layer += 1) {
      const [Q, K, V] = ["W_q", "W_k", "W_v"].map((name) => product(X, model[`${name}${layer}`]));
      const scores = Q.map((query, at) =>
        K.slice(0, at + 1).map((key) => dot(query, key) / Math.sqrt(query.length)),
      );
      const weights = scores.map(softmax);
      const gathered = weights.map((row, at) => blend(row, V.slice(0, at + 1)));
      const added = product(gathered, model[`W_o${layer}`]);
      X = X.map((row, at) => row.map((x, i) => x + added[at][i]));
      looks.push({ scores, weights });
    }
    const [logits] = product([X.at(-1)], model.W_out);
    const probabilities = softmax(logits.map((logit, i) => logit + model.bias[i]));
    return { looks, probabilities, loss: -Math.log(probabilities[text.answer]) };
  }

  const width = (share) => (narrow ? room : room * share);
  const looks = barChart("Weights of the last token, last layer", texts[0].names, width(0.68), "#d55e00");
  const says = barChart("Probability", colours.names, width(0.28), "#0072b2");
  const four = numberTable("The four texts", ["asked", "first colour", "right", "its probability", "loss"]);
  const listed = numberTable("Numbers of this text", [
    "token",
    "last layer: score",
    "last layer: weight",
    ...places.asks.map((at) => `first layer: weight from ${at + 1}`),
  ]);
  const choose = choice({
    label: "asked",
    names: asked,
    start: state.asked,
    moved: (chosen) => update({ asked: chosen }),
  });
  const toggle = (name, label) => {
    const box = element("input", { type: "checkbox", ...OWN_KEYS });
    box.checked = state[name];
    box.addEventListener("change", () => update({ [name]: box.checked }));
    return { node: element("label", {}, box, label), set: (on) => (box.checked = on) };
  };
  const [positions, second] = [toggle("positions", "positions"), toggle("second", "second layer")];
  stage.controls.append(
    positions.node,
    second.node,
    choose.node,
    button("Exchange the two colours", () => update({ swapped: !state.swapped })),
    button("Start again", () => {
      positions.set(data.start.positions);
      second.set(data.start.second);
      choose.set(data.start.asked);
      update(data.start);
    }),
  );
  stage.panels.append(looks.svg, says.svg);
  const scrolling = (name, node) =>
    element(
      "div",
      { class: "explorable-scroll", tabindex: 0, role: "group", "aria-label": name, ...OWN_KEYS },
      node,
    );
  stage.below.append(
    scrolling("The four texts", four.node),
    element(
      "details",
      {},
      element("summary", { ...OWN_KEYS }, "Scores and weights as a table"),
      scrolling("Table of scores and weights", listed.node),
    ),
  );

  function update(change) {
    Object.assign(state, change);
    const { swapped, asked: who, positions: placed, second: deep } = state;
    const layers = deep ? 2 : 1;
    const all = texts.map((text) => read(models[layers - 1], layers, text, placed));
    const chosen = 2 * Number(swapped) + who;
    const { names, answer, answerName } = texts[chosen];
    const now = all[chosen];
    const last = { scores: now.looks.at(-1).scores.at(-1), weights: now.looks.at(-1).weights.at(-1) };
    const first = deep ? places.asks.map((at) => now.looks[0].weights[at]) : [];
    const probabilities = colours.ids.map((id) => now.probabilities[id]);
    const losses = all.map(({ loss }) => loss);
    const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    looks.draw(last.weights, names);
    says.draw(probabilities);
    four.fill(
      texts.map((text, i) => [
        text.asked,
        text.names[places.asks[0]],
        text.answerName,
        fixed(Math.exp(-losses[i]), 3),
        fixed(losses[i], 3),
      ]),
    );
    listed.fill(
      names.map((name, i) => [
        `${i + 1} ${name}`,
        fixed(last.scores[i]),
        fixed(last.weights[i], 3),
        ...places.asks.map((_, row) => (first[row]?.[i] === undefined ? "" : fixed(first[row][i], 3))),
      ]),
    );
    const given = first.map(
      (row, i) => `"${names[places.asks[i]]}" gives "${names[places.tells[i]]}" ${fixed(row[places.tells[i]])}`,
    );
    const shares = places.asks.slice(0, 2).map((at) => `"${names[at]}" ${fixed(last.weights[at], 3)}`);
    stage.report(
      { ...state, weights: last.weights, first, probabilities, losses },
      `${deep ? "Two layers" : "One layer"}, ${placed ? "with" : "without"} positions. ` +
        (deep ? `Weights in the first layer: ${given.join(", ")}. ` : "") +
        `Weights in the last: ${shares.join(", ")}. Right is "${answerName}", which has probability ` +
        `${fixed(now.probabilities[answer], 3)}. Mean loss of the four texts: ${fixed(mean, 3)}.`,
    );
  }
  update({});
}
