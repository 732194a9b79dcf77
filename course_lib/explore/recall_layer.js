// Chapter 6: the colour-recall layer and its training with Adam, as in `course_lib.recall`.

const MATRICES = { embedding: "embedding", W_q: "W_Q", W_k: "W_K", W_v: "W_V", W_out: "W_out", bias: "bias" };
const NAMES = Object.keys(MATRICES);
const columnsOf = (matrix) => Array.from(matrix[0], (_, j) => matrix.map((row) => row[j]));
const times = (a, b) => {
  const columns = columnsOf(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
};

/** A layer whose rows are views of one long list of numbers, with the shapes of another layer. */
function layerOf(numbers, like) {
  let at = 0;
  const rows = (table) => table.map((row) => numbers.subarray(at, (at += row.length)));
  return Object.fromEntries(NAMES.map((name) => [name, rows(like[name])]));
}

/** Add a multiple of one row to another. */
function add(row, factor, other) {
  for (let i = 0; i < row.length; i += 1) row[i] += factor * other[i];
}

/** Queries, keys and values of every token of the vocabulary: a layer without positions needs no others. */
const prepare = (model) => ({
  model,
  queries: times(model.embedding, model.W_q),
  keys: times(model.embedding, model.W_k),
  values: times(model.embedding, model.W_v),
  outputs: columnsOf(model.W_out),
  scale: 1 / Math.sqrt(model.W_k[0].length),
});

/** What a layer makes of one text: the last token asks. */
function read({ model, queries, keys, values, outputs, scale }, ids) {
  const query = queries[ids.at(-1)];
  const scores = ids.map((id) => dot(query, keys[id]) * scale);
  const weights = softmax(scores);
  const output = values[0].map(() => 0);
  ids.forEach((id, m) => add(output, weights[m], values[id]));
  const logits = outputs.map((column, n) => dot(output, column) + model.bias[0][n]);
  return { query, scores, weights, output, probabilities: softmax(logits), logits };
}

/** Minus the logarithm of the target's probability, from the logits, so that it never becomes infinite. */
function lossOf({ logits }, target) {
  const largest = Math.max(...logits);
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
  return largest + Math.log(total) - logits[target];
}

const meanLoss = (ready, examples) =>
  examples.reduce((sum, { ids, target }) => sum + lossOf(read(ready, ids), target), 0) / examples.length;

/** The gradient of the mean loss, added to `slope`: the chain rule, backwards through `read`, `prepare`. */
function fillGradient(slope, ready, examples) {
  const { model, keys, values, scale } = ready;
  const keySlope = keys.map((row) => row.map(() => 0));
  const valueSlope = values.map((row) => row.map(() => 0));
  for (const { ids, target } of examples) {
    const { query, weights, output, probabilities } = read(ready, ids);
    const logits = probabilities.map((p, n) => (p - (n === target ? 1 : 0)) / examples.length);
    add(slope.bias[0], 1, logits);
    output.forEach((value, v) => add(slope.W_out[v], value, logits));
    const outputSlope = model.W_out.map((row) => dot(row, logits));
    const weightSlope = ids.map((id) => dot(outputSlope, values[id]));
    const mean = dot(weights, weightSlope);
    const querySlope = query.map(() => 0);
    ids.forEach((id, m) => {
      add(valueSlope[id], weights[m], outputSlope);
      const score = weights[m] * (weightSlope[m] - mean) * scale;
      add(querySlope, score, keys[id]);
      add(keySlope[id], score, query);
    });
    const asking = ids.at(-1);
    model.embedding[asking].forEach((value, d) => add(slope.W_q[d], value, querySlope));
    model.W_q.forEach((row, d) => (slope.embedding[asking][d] += dot(row, querySlope)));
  }
  const through = { W_k: keySlope, W_v: valueSlope };
  for (const [name, table] of Object.entries(through)) {
    times(columnsOf(model.embedding), table).forEach((row, d) => add(slope[name][d], 1, row));
    times(table, columnsOf(model[name])).forEach((row, id) => add(slope.embedding[id], 1, row));
  }
}

/** The layer before the first update and after each, with Adam (Kingma and Ba 2015). */
function train(start, examples, updates, lr) {
  const [slow, slower, tiny] = [0.9, 0.999, 1e-8];
  let numbers = Float64Array.from(NAMES.flatMap((name) => start[name].flat()));
  const [slope, mean, square] = [0, 0, 0].map(() => new Float64Array(numbers.length));
  const slopes = layerOf(slope, start);
  const history = [prepare(layerOf(numbers, start))];
  for (let t = 1; t <= updates; t += 1) {
    fillGradient(slopes, history.at(-1), examples);
    const [step, size] = [lr / (1 - slow ** t), Math.sqrt(1 - slower ** t)];
    numbers = numbers.slice();
    for (let i = 0; i < numbers.length; i += 1) {
      mean[i] += (1 - slow) * (slope[i] - mean[i]);
      square[i] = slower * square[i] + (1 - slower) * slope[i] ** 2;
      numbers[i] -= (step * mean[i]) / (Math.sqrt(square[i]) / size + tiny);
    }
    slope.fill(0);
    history.push(prepare(layerOf(numbers, start)));
  }
  return history;
}
