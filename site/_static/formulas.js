// Chromium may break a line between a formula and the mark behind it; here the two stay together.
window.addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  for (const formula of document.querySelectorAll("article span.math")) {
    const text = formula.nextSibling;
    const [mark] = (text instanceof Text && /^[.,;:?!)]+/u.exec(text.data)) || [""];
    if (mark === "") continue;
    text.splitText(mark.length);
    const together = document.createElement("span");
    together.className = "formula-and-mark";
    formula.before(together);
    together.append(formula, text);
  }
});
