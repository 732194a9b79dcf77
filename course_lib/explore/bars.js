// Bars from 0 to 1 with a name below each and its number above; made once, `draw` gives them their heights.

function barChart(title, names, width, fill) {
  const tall = 130;
  const top = 40;
  const base = top + tall;
  const longest = Math.max(...names.map((name) => name.length));
  const height = base + 18 + 6.5 * longest;
  const size = (width - 12) / names.length;
  const svg = element("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": title,
  });
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
  const draw = (values, labels = names) =>
    bars.forEach(({ rect, value, label }, i) => {
      const drawn = values[i] * tall;
      rect.setAttribute("height", drawn);
      rect.setAttribute("y", base - drawn);
      value.setAttribute("y", base - drawn - 4);
      value.textContent = values[i] < 0.005 ? "" : fixed(values[i]);
      label.textContent = labels[i];
    });
  return { svg, draw };
}
