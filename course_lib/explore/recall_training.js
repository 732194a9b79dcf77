// Chapter 6: go through the updates of a run, and let the layer read any text; `recall_layer.js` trains it.

function explore(stage, data) {
  const { tokens, colours, updates } = data;
  const split = (text) => text.split(/\s+/).filter(Boolean);
  const idsOf = (words) => words.map((word) => tokens.indexOf(word));
  const exampleOf = ([text, target]) => ({ ids: idsOf(split(text)), target: tokens.indexOf(target) });
  const [training, validation] = [data.training, data.validation].map((each) => each.map(exampleOf));
  const history = train(data, training, updates, data.lr);
  const losses = {
    training: history.map((ready) => meanLoss(ready, training)),
    validation: history.map((ready) => meanLoss(ready, validation)),
  };
  const sizes = history.map(({ model }) =>
    Math.max(...NAMES.map((name) => Math.max(...model[name].map((row) => Math.max(...row.map(Math.abs)))))),
  );
  const limit = Math.max(...sizes);
  const state = { update: data.update, words: split(data.text), problem: "" };

  // Controls
  const positions = history.map((_, i) => i);
  const time = slider({
    label: "update",
    values: positions,
    start: state.update,
    name: String,
    moved: (update) => show({ update }),
  });
  time.node.querySelector("input").style.width = `${Math.min(stage.room - 130, 300)}px`;
  const texts = [
    ...data.training.map((pair) => [...pair, ""]),
    ...data.validation.map((pair) => [...pair, ", validation"]),
  ];
  const own = texts.length;
  const named = texts.map(([text, colour, kind]) => `${colour}, ${split(text).length} tokens${kind}`);
  const field = element("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    style:
      "font: inherit; color: #1a1a1a; background: #fff; border: 1px solid #595959; border-radius: 4px; " +
      `padding: 3px 8px; min-height: 28px; width: ${Math.min(stage.room - 60, 520)}px`,
    ...OWN_KEYS,
  });
  field.addEventListener("input", () => type(field.value));
  const picker = choice({
    label: "text",
    names: [...named, "own text"],
    start: own,
    moved: (which) => {
      if (which === own) return field.focus();
      field.value = texts[which][0];
      return type(field.value);
    },
  });
  stage.controls.append(
    time.node,
    picker.node,
    button("Start again", () => {
      time.set(data.update);
      field.value = data.text;
      state.update = data.update;
      type(data.text);
    }),
    element("label", {}, "reads", field),
  );
  field.value = data.text;

  // Panels
  const room = stage.room >= 700 ? 400 : Math.min(stage.room, 400);
  const bars = element("svg", { width: room, role: "img" });
  const answers = numberTable("Next token", ["token", "probability", "0 to 1"]);
  const highest = Math.ceil(2 * Math.max(...losses.training, ...losses.validation)) / 2;
  const curve = plot({
    title: "Losses (dashed: validation)",
    width: Math.min(stage.room, 400),
    height: 230,
    xs: [0, updates],
    ys: [0, highest],
    xlabel: "update",
    ylabel: "loss",
    label: "Training and validation loss against the update, with the chosen update marked",
  });
  curve.svg.setAttribute("role", "img");
  curve.svg.style.cursor = "ew-resize";
  curve.svg.style.touchAction = "pan-y";
  drag(curve.svg, (event) => {
    const update = clamp(Math.round(curve.at(event)[0]), 0, updates);
    time.set(update);
    show({ update });
  });
  const line = (values, colour, dashes) =>
    element("polyline", {
      points: through(curve, positions, values),
      fill: "none",
      stroke: colour,
      "stroke-width": 2.4,
      "stroke-dasharray": dashes,
    });
  const marker = element("line", { y1: 20, y2: 190, stroke: "#1a1a1a", "stroke-dasharray": "3 3" });
  const dots = ["#0072b2", "#d55e00"].map((fill) => element("circle", { r: 4.5, fill, stroke: "#fff" }));
  curve.layer.append(
    line(losses.training, "#0072b2", ""),
    line(losses.validation, "#d55e00", "6 4"),
    marker,
    ...dots,
  );
  const maps = matrixMaps();
  stage.panels.append(bars, answers.node, curve.svg, maps.svg);

  const weightTable = numberTable("Scores and weights of the text", ["position", "token", "score", "weight"]);
  const matrixTables = NAMES.map((name) =>
    numberTable(MATRICES[name], [
      name === "embedding" ? "token" : "row",
      ...data[name][0].map((_, j) => String(j)),
    ]),
  );
  const folded = (label, ...tables) => {
    const scroll = {
      class: "explorable-scroll",
      tabindex: 0,
      role: "group",
      "aria-label": label,
      ...OWN_KEYS,
    };
    const node = element(
      "details",
      {},
      element("summary", { ...OWN_KEYS }, label),
      element("div", scroll, ...tables.map((each) => each.node)),
    );
    node.addEventListener("toggle", () => show({}));
    return node;
  };
  const weightDetails = folded("Scores and weights as a table", weightTable);
  const matrixDetails = folded("Matrices as tables", ...matrixTables);
  const words = element(
    "p",
    { style: "margin: 8px 0 0; color: #1a1a1a" },
    `The 17 tokens: ${tokens.join("  ")}`,
  );
  stage.below.append(words, weightDetails, matrixDetails);

  /** What is wrong with a text, in words that help; nothing if the layer can read it. */
  function problemOf(list) {
    if (!list.length) return "Type at least one token.";
    if (list.length > data.most) return `At most ${data.most} tokens fit here.`;
    const word = list.find((each) => !tokens.includes(each));
    if (word === undefined) return "";
    const near = tokens.find((token) => token.toLowerCase() === word.toLowerCase());
    const bare = word.replace(/[.,;:!?]+$/, "");
    let hint = "Choose among the tokens listed below.";
    if (near) hint = `Did you mean "${near}"?`;
    else if (bare !== word && tokens.includes(bare))
      hint = "The full stop is a token of its own: put a space before it.";
    return `"${word}" is not in this layer's vocabulary. ${hint}`;
  }

  function type(text) {
    const list = split(text);
    const problem = problemOf(list);
    field.setAttribute("aria-invalid", Boolean(problem));
    const which = texts.findIndex(([known]) => known === list.join(" "));
    picker.set(which < 0 ? own : which);
    show(problem ? { problem } : { problem, words: list });
  }

  function show(change) {
    Object.assign(state, change);
    const { update, words: list, problem } = state;
    const found = read(history[update], idsOf(list));
    const { scores, weights, probabilities } = found;
    const [trained, held] = [losses.training[update], losses.validation[update]];
    const plain = Object.fromEntries(
      NAMES.map((name) => [name, history[update].model[name].map((row) => Array.from(row))]),
    );
    drawBars(list, weights);
    fillAnswers(probabilities);
    const x = curve.x(update);
    marker.setAttribute("x1", x);
    marker.setAttribute("x2", x);
    [trained, held].forEach((loss, i) => {
      dots[i].setAttribute("cx", x);
      dots[i].setAttribute("cy", curve.y(loss));
    });
    maps.draw(plain);
    if (weightDetails.open) {
      weightTable.fill(list.map((word, i) => [String(i + 1), word, fixed(scores[i]), fixed(weights[i], 3)]));
    }
    if (matrixDetails.open) {
      NAMES.forEach((name, k) =>
        matrixTables[k].fill(
          plain[name].map((row, i) => [
            name === "embedding" ? tokens[i] : String(i),
            ...row.map((value) => fixed(value)),
          ]),
        ),
      );
    }
    const best = weights.indexOf(Math.max(...weights));
    const said = probabilities.indexOf(Math.max(...probabilities));
    stage.report(
      { update, words: list, problem, scores, weights, probabilities, losses, model: plain },
      `${problem ? `${problem} Still shown: the last text that could be read. ` : ""}` +
        `After ${update} updates: largest weight ${fixed(weights[best], 3)} on "${list[best]}" at position ` +
        `${best + 1}. It says "${tokens[said]}", probability ${fixed(probabilities[said], 3)}. ` +
        `Loss ${fixed(trained, 3)} in training, ${fixed(held, 3)} in validation.`,
    );
  }

  function drawBars(list, weights) {
    const [left, base, tall] = [30, 150, 120];
    const step = (room - left - 4) / Math.max(list.length, 10);
    const longest = Math.max(...list.map((word) => word.length));
    const height = base + 14 + 7.5 * longest;
    bars.setAttribute("height", height);
    bars.setAttribute("viewBox", `0 0 ${room} ${height}`);
    bars.setAttribute("aria-label", `Weights of the ${list.length} tokens as bars, from 0 to 1`);
    const parts = [
      element("text", { x: 0, y: 14, class: "explorable-title" }, `Weights of "${list.at(-1)}"`),
    ];
    for (const value of [0, 0.5, 1]) {
      const y = base - value * tall;
      parts.push(
        element("line", { x1: left, x2: room, y1: y, y2: y, stroke: value ? "#e3e3e3" : "#1a1a1a" }),
        element("text", { x: left - 5, y: y + 4, "text-anchor": "end" }, String(value)),
      );
    }
    list.forEach((word, i) => {
      const [x, y] = [left + (i + 0.5) * step, base - weights[i] * tall];
      parts.push(
        element("rect", {
          x: x - step * 0.35,
          y,
          width: step * 0.7,
          height: weights[i] * tall,
          fill: "#d55e00",
        }),
        element(
          "text",
          { transform: `translate(${x + 4} ${base + 6}) rotate(-90)`, "text-anchor": "end" },
          word,
        ),
      );
      if (step > 26 || weights[i] > 0.2) {
        const label = {
          x,
          y: y - 3,
          "text-anchor": "middle",
          class: "explorable-halo",
          style: "font-size: 10px",
        };
        parts.push(element("text", label, fixed(weights[i])));
      }
    });
    bars.replaceChildren(...parts);
  }

  function fillAnswers(probabilities) {
    const others = tokens.filter((token) => !colours.includes(token));
    const chance = (token) => probabilities[tokens.indexOf(token)];
    const best = others.reduce((a, b) => (chance(b) > chance(a) ? b : a));
    const rest = others.filter((token) => token !== best).reduce((sum, token) => sum + chance(token), 0);
    const listed = [...colours, best].map((token) => [token, chance(token)]);
    answers.fill(
      [...listed, ["all others", rest]].map(([token, p]) => {
        const bar = element("span", { class: "explorable-bar", style: `width: ${100 * p}%` });
        return [token, fixed(p, 3), element("div", { class: "explorable-track" }, bar)];
      }),
    );
  }

  /** Matrices and bias as squares: blue below 0, orange above, white at 0; one scale for the whole run. */
  function matrixMaps() {
    const size = 10;
    const places = {
      embedding: [62, 32],
      W_q: [160, 32],
      W_k: [218, 32],
      W_v: [276, 32],
      W_out: [160, 146],
      bias: [160, 244],
    };
    const svg = element("svg", {
      viewBox: "0 0 360 262",
      width: 360,
      height: 262,
      role: "img",
      "aria-label": "The matrices at the chosen update as squares: blue below 0, white at 0, orange above 0",
    });
    svg.append(
      element(
        "text",
        { x: 0, y: 14, class: "explorable-title" },
        `Matrices, from \u2212${fixed(limit, 1)} (blue) to ${fixed(limit, 1)} (orange)`,
      ),
      ...tokens.map((token, i) =>
        element("text", { x: 58, y: 41 + i * size, "text-anchor": "end", style: "font-size: 10px" }, token),
      ),
    );
    const squares = Object.fromEntries(
      NAMES.map((name) => {
        const [x, y] = places[name];
        svg.append(element("text", { x, y: y - 4, style: "font-size: 11px" }, MATRICES[name]));
        const rows = data[name].map((row, i) =>
          row.map((_, j) => {
            const square = { x: x + j * size, y: y + i * size, width: size - 1, height: size - 1 };
            const node = element("rect", { ...square, stroke: "#bbb", "stroke-width": 0.4 });
            svg.append(node);
            return node;
          }),
        );
        return [name, rows];
      }),
    );
    const colour = (value) => {
      const share = Math.min(Math.abs(value) / limit, 1);
      const end = value < 0 ? [0, 114, 178] : [213, 94, 0];
      return `rgb(${end.map((part) => Math.round(255 + share * (part - 255))).join(",")})`;
    };
    const draw = (model) => {
      for (const name of NAMES) {
        model[name].forEach((row, i) => row.forEach((value, j) => paint(squares[name][i][j], colour(value))));
      }
    };
    return { svg, draw };
  }
  type(data.text);
}

/** Colour a square, if it has another colour so far. */
function paint(square, fill) {
  if (square.getAttribute("fill") !== fill) square.setAttribute("fill", fill);
}
