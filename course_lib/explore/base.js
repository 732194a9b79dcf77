"use strict";
// What every explorable figure shares. Inlined before the figure's own file, inside one function, so that
// there are no global names.

const SVG_TAGS = new Set(["svg", "g", "rect", "line", "path", "circle", "polygon", "polyline", "text"]);

/** A new HTML or SVG element; attributes that are functions become listeners. */
function element(tag, attributes = {}, ...children) {
  const node = SVG_TAGS.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Scores to weights; the largest score is subtracted first, so that no exponential overflows. */
function softmax(scores) {
  const largest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - largest));
  const total = exponentials.reduce((sum, value) => sum + value, 0);
  return exponentials.map((value) => value / total);
}

/** Weighted sum of the rows of a table. */
const blend = (weights, rows) =>
  rows[0].map((_, column) =>
    dot(
      weights,
      rows.map((row) => row[column]),
    ),
  );

const entropy = (weights) => weights.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);

/** A number with a fixed count of decimals, a true minus sign, and no minus before zero. */
const fixed = (value, decimals = 2) =>
  value
    .toFixed(decimals)
    .replace(/^-(0(\.0+)?)$/, "$1")
    .replace("-", "\u2212");

/** A positive number with three digits, as long as it is not tiny or huge. */
const digits = (value) => String(Number(value.toPrecision(3)));

const CIVIDIS = [
  [0, 34, 78],
  [8, 51, 112],
  [53, 69, 108],
  [79, 87, 108],
  [102, 105, 112],
  [125, 124, 120],
  [148, 142, 119],
  [174, 163, 113],
  [200, 184, 102],
  [229, 207, 82],
  [254, 232, 56],
];

/** Colour of a weight from 0 (dark blue) to 1 (yellow), and whether text on it must be light. */
function weightColour(weight) {
  const place = clamp(weight, 0, 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const [r, g, b] = CIVIDIS[low].map((c, i) => Math.round(c + (place - low) * (CIVIDIS[low + 1][i] - c)));
  return { fill: `rgb(${r},${g},${b})`, light: 0.299 * r + 0.587 * g + 0.114 * b < 120 };
}

/** Round tick positions between two ends, about `count` of them. */
function ticks(low, high, count = 7) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** An SVG with axes. `x` and `y` map data to pixels, `at` maps a pointer event to data; draw into `layer`. */
function plot({ title, label, width, height, xs, ys, xlabel, ylabel, xticks, yticks, xname = String }) {
  const [left, right, top, bottom] = [52, 10, 24, 40];
  const x = (value) => left + ((value - xs[0]) / (xs[1] - xs[0])) * (width - left - right);
  const y = (value) => height - bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (height - top - bottom);
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label });
  const frame = element("g", { "aria-hidden": "true" });
  frame.append(element("text", { x: left, y: 14, class: "explorable-title" }, title));
  for (const value of xticks ?? ticks(...xs)) {
    frame.append(
      element("line", { x1: x(value), x2: x(value), y1: y(ys[0]), y2: y(ys[1]), stroke: "#e3e3e3" }),
    );
    frame.append(
      element("text", { x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, xname(value)),
    );
  }
  for (const value of yticks ?? ticks(...ys)) {
    frame.append(
      element("line", { x1: x(xs[0]), x2: x(xs[1]), y1: y(value), y2: y(value), stroke: "#e3e3e3" }),
    );
    frame.append(element("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value)));
  }
  const middle = (top + height - bottom) / 2;
  const turned = { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` };
  frame.append(
    element("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, xlabel),
  );
  frame.append(element("text", turned, ylabel));
  const layer = element("g", { "aria-hidden": "true" });
  svg.append(frame, layer);
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const px = ((event.clientX - box.left) * width) / box.width;
    const py = ((event.clientY - box.top) * height) / box.height;
    return [
      xs[0] + ((px - left) / (width - left - right)) * (xs[1] - xs[0]),
      ys[0] + ((height - bottom - py) / (height - top - bottom)) * (ys[1] - ys[0]),
    ];
  };
  return { svg, layer, x, y, at };
}

/** The attribute `points` of a line through data. */
const through = (panel, xs, ys) =>
  xs.map((x, i) => `${panel.x(x).toFixed(1)},${panel.y(ys[i]).toFixed(1)}`).join(" ");

// JupyterLab takes the arrow keys of whatever has focus in an output, unless that element itself says not to.
const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

/** A labelled slider over a list of values (or positions); `set(index)` moves it without calling `moved`. */
function slider({ label, values, start, name = digits, moved }) {
  const range = element("input", { type: "range", min: 0, max: values.length - 1, step: 1, ...OWN_KEYS });
  const shown = element("output", { "aria-hidden": "true" });
  const write = () => {
    shown.textContent = name(values[range.value]);
    range.setAttribute("aria-valuetext", shown.textContent);
  };
  const set = (index) => {
    range.value = index;
    write();
  };
  range.addEventListener("input", () => {
    write();
    moved(values[range.value], Number(range.value));
  });
  set(start);
  return { node: element("label", {}, label, range, shown), set };
}

/** A labelled list to choose from. */
function choice({ label, names, start, moved }) {
  const options = names.map((name, i) => element("option", { value: i }, name));
  const select = element("select", { ...OWN_KEYS }, ...options);
  select.value = start;
  select.addEventListener("change", () => moved(Number(select.value)));
  return { node: element("label", {}, label, select), set: (index) => (select.value = index) };
}

const button = (label, click) => element("button", { type: "button", ...OWN_KEYS, click }, label);

/** A table with a header cell in each row; `fill(rows)` writes cells (text or nodes) into it. */
function numberTable(caption, header) {
  const body = element("tbody");
  const columns = header.map((name) => element("th", { scope: "col" }, name));
  const head = element("thead", {}, element("tr", {}, ...columns));
  const node = element("table", { class: "explorable-table" }, element("caption", {}, caption), head, body);
  const cell = (content, i) => element(i ? "td" : "th", i ? {} : { scope: "row" }, content);
  const fill = (rows) => body.replaceChildren(...rows.map((row) => element("tr", {}, ...row.map(cell))));
  const rename = (names) => columns.forEach((column, i) => (column.textContent = names[i]));
  return { node, fill, rename };
}

/** Let a pointer drag: `moved(event)` from pressing on `target` until letting go. */
function drag(target, moved) {
  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    target.setPointerCapture(event.pointerId);
    moved(event);
  });
  target.addEventListener("pointermove", (event) => {
    if (target.hasPointerCapture(event.pointerId)) moved(event);
  });
}

/** Arrow keys of an element as steps (dx, dy); five times as large with Shift. */
function arrows(target, moved) {
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  target.addEventListener("keydown", (event) => {
    const way = ways[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const size = event.shiftKey ? 5 : 1;
    moved(way[0] * size, way[1] * size);
  });
}

/**
 * Replace the picture of each figure with this id by what `explore` draws.
 * `explore(stage, data)` has `stage.room` pixels across. It appends to `stage.controls`, `stage.panels` and
 * `stage.below`, and calls `stage.report(numbers, sentence)` after each change: the sentence is shown, and
 * announced when the reader pauses.
 */
function wake(id, explore, data) {
  for (const figure of document.querySelectorAll(`figure[id="${id}"]:not([data-live])`)) {
    const line = element("p", { class: "explorable-line" });
    const status = element("p", { class: "explorable-status", role: "status" });
    const stage = {
      controls: element("div", { class: "explorable-controls" }),
      panels: element("div", { class: "explorable-panels" }),
      below: element("div"),
      room: figure.clientWidth > 60 ? Math.min(figure.clientWidth, 900) - 26 : 874,
    };
    let first = true;
    let pause = 0;
    stage.report = (numbers, sentence) => {
      figure.numbers = numbers;
      line.textContent = sentence;
      clearTimeout(pause);
      if (!first) pause = setTimeout(() => (status.textContent = sentence), 500);
      first = false;
    };
    explore(stage, data);
    const caption = figure.querySelector("figcaption");
    caption.querySelector('[data-explorable="still"]')?.remove();
    figure.dataset.live = "true";
    figure.replaceChildren(stage.controls, stage.panels, line, status, stage.below, caption);
  }
}
