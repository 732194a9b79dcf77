"""Assignment 02: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, versions

RIGHT_ATTENTION = """
def attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights
"""

MISTAKES = (
    Mistake(
        id="project-same-matrix",
        cause="W_k makes the queries, too",
        code="""
def project(X, W_q, W_k, W_v):
    return X @ W_k, X @ W_k, X @ W_v
""",
        case="a sequence",
        question=(
            "Your queries are what comes out when `W_k` makes them. Which matrix is there for queries?"
        ),
    ),
    Mistake(
        id="project-order",
        cause="values are returned before keys",
        code="""
def project(X, W_q, W_k, W_v):
    return X @ W_q, X @ W_v, X @ W_k
""",
        case="a sequence",
        question=(
            "Your values stand where the keys belong. In which order does the signature return the three?"
        ),
    ),
    Mistake(
        id="project-matrix-first",
        cause="the matrix stands before the rows",
        code="""
def project(X, W_q, W_k, W_v):
    return W_q @ X, W_k @ X, W_v @ X
""",
        case="a sequence",
        question="Tokens are rows of `X`. On which side of a row must a matrix (D, K) stand?",
    ),
    Mistake(
        id="project-three-equal-parts",
        cause="values are taken to be as wide as keys",
        code="""
def project(X, W_q, W_k, W_v):
    together = X @ np.concatenate([W_q, W_k, W_v], axis=-1)
    Q, K, V = np.split(together, 3, axis=-1)
    return Q, K, V
""",
        case="a sequence",
        question="Three equal parts? Which of the three widths may differ from the others?",
    ),
    Mistake(
        id="project-einsum-two-axes",
        cause="einsum without an ellipsis takes no batch",
        code="""
def project(X, W_q, W_k, W_v):
    return tuple(np.einsum("ld,dk->lk", X, W) for W in (W_q, W_k, W_v))
""",
        behaviour="any input",
        case="a batch",
        question=(
            "Your einsum gives names to exactly two axes of `X`. How does it say “and any axes in front”?"
        ),
    ),
    Mistake(
        id="project-columns-on-a-batch",
        cause="the column convention with .T, which reverses all axes of a batch",
        code="""
def project(X, W_q, W_k, W_v):
    return (W_q.T @ X.T).T, (W_k.T @ X.T).T, (W_v.T @ X.T).T
""",
        behaviour="any input",
        case="a batch",
        question=(
            "`X.T` reverses all axes of a batch. Which of them should change places, or is there a "
            "way that turns nothing?"
        ),
    ),
    Mistake(
        id="project-flattened-batch",
        cause="a batch is flattened and not given its shape back",
        code="""
def project(X, W_q, W_k, W_v):
    rows = X.reshape(-1, X.shape[-1])
    return rows @ W_q, rows @ W_k, rows @ W_v
""",
        behaviour="any input",
        case="a batch",
        question=("The rows of all tables have become one long table. Which axes must stand in front again?"),
    ),
    Mistake(
        id="project-integer-result",
        cause="the result takes its type from integers",
        code="""
def project(X, W_q, W_k, W_v):
    results = []
    for W in (W_q, W_k, W_v):
        result = np.zeros((*X.shape[:-1], W.shape[1]), dtype=X.dtype)
        for d in range(X.shape[-1]):
            result += (X[..., d, None] * W[d]).astype(X.dtype)
        results.append(result)
    return tuple(results)
""",
        behaviour="any input",
        case="integers",
        question="must hold real numbers (floats); yours holds integers",
    ),
    Mistake(
        id="attention-not-scaled",
        cause="the scores are not scaled",
        code=Edit(RIGHT_ATTENTION, " / np.sqrt(K.shape[-1])", ""),
        case="another table",
        question=(
            "Your weights are what comes out when the scores go into softmax as they are. What does "
            "the formula do to them first?"
        ),
    ),
    Mistake(
        id="attention-width-without-root",
        cause="divided by d_k instead of its root",
        code=Edit(RIGHT_ATTENTION, "np.sqrt(K.shape[-1])", "K.shape[-1]"),
        case="another table",
        question=(
            "Your weights are what comes out when the scores are divided by the whole width of the "
            "keys. Is the root missing, or is there a root too many?"
        ),
    ),
    Mistake(
        id="attention-scaled-twice",
        cause="queries and keys are both divided by the root of d_k",
        code="""
def attention(Q, K, V):
    root = np.sqrt(K.shape[-1])
    weights = softmax((Q / root) @ np.swapaxes(K / root, -1, -2))
    return weights @ V, weights
""",
        case="another table",
        question=(
            "Your weights are what comes out when the scores are divided by the whole width of the "
            "keys. Is the root missing, or is there a root too many?"
        ),
    ),
    Mistake(
        id="attention-half-for-root",
        cause="d_k ** 1 / 2 is half of d_k",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / (K.shape[-1] ** 1 / 2))
    return weights @ V, weights
""",
        case="another table",
        question=(
            "Your weights are what comes out when the scores are divided by half the width. What "
            "comes first in `d ** 1 / 2`?"
        ),
    ),
    *versions(
        id="attention-root-of-another",
        cause="divided by the root of another length than the keys' width",
        of={
            "number of keys": (
                Edit(RIGHT_ATTENTION, "K.shape[-1]", "K.shape[-2]"),
                "another table",
                (
                    "Your scores are divided by the root of the number of keys. How many keys there are, or "
                    "how wide they are?"
                ),
            ),
            "number of queries": (
                Edit(RIGHT_ATTENTION, "K.shape[-1]", "Q.shape[-2]"),
                "another table",
                (
                    "Your scores are divided by the root of the number of queries. Which axis of `Q` is its "
                    "width?"
                ),
            ),
            "width of values": (
                Edit(RIGHT_ATTENTION, "K.shape[-1]", "V.shape[-1]"),
                "another table",
                "Your scores are divided by the root of the values' width. Do values take part in a score?",
            ),
        },
    ),
    Mistake(
        id="attention-multiplied",
        cause="multiplied by the root of d_k",
        code=Edit(RIGHT_ATTENTION, " / np.sqrt(K.shape[-1])", " * np.sqrt(K.shape[-1])"),
        case="another table",
        question=(
            "Your scores are multiplied by the root of the width. Should it make them larger or smaller?"
        ),
    ),
    Mistake(
        id="attention-scaled-after-softmax",
        cause="the weights are scaled instead of the scores",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2)) / np.sqrt(K.shape[-1])
    return weights @ V, weights
""",
        case="another table",
        question=(
            "Your weights are divided by the root of the width. Is it weights that the formula divides?"
        ),
    ),
    Mistake(
        id="attention-scaled-output",
        cause="the output is scaled instead of the scores",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    return weights @ V / np.sqrt(K.shape[-1]), weights
""",
        case="another table",
        question=(
            "Your output is divided by the root of the width, and your weights are those of scores as "
            "they are. What does the formula divide?"
        ),
    ),
    Mistake(
        id="attention-softmax-over-queries",
        cause="softmax runs down the columns",
        code=Edit(
            RIGHT_ATTENTION, "softmax(scores)", "np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)"
        ),
        case="another table",
        question=(
            "Your weights are what comes out when each column sums to 1. Do the keys compete for a "
            "query, or the queries for a key?"
        ),
    ),
    Mistake(
        id="attention-softmax-over-all",
        cause="softmax runs over the whole table",
        code=Edit(
            RIGHT_ATTENTION,
            "softmax(scores)",
            "np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()",
        ),
        case="another table",
        question=(
            "Your weights are what comes out when all queries share one sum of 1. How much weight "
            "may one query give away?"
        ),
    ),
    Mistake(
        id="attention-returns-scores",
        cause="the second value is the scores",
        code="""
def attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    return softmax(scores) @ V, scores
""",
        case="another table",
        question="Your second value is the table before softmax. Which one is called weights?",
    ),
    Mistake(
        id="attention-cosine",
        cause="queries and keys are brought to length 1",
        code="""
def attention(Q, K, V):
    Q = Q / np.maximum(np.linalg.norm(Q, axis=-1, keepdims=True), 1e-12)
    K = K / np.maximum(np.linalg.norm(K, axis=-1, keepdims=True), 1e-12)
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    return weights @ V, weights
""",
        case="another table",
        question=(
            "Your scores are what comes out when queries and keys first get length 1. Does the "
            "formula ask for that?"
        ),
    ),
    Mistake(
        id="attention-keys-ask",
        cause="queries and keys are exchanged",
        code="""
def attention(Q, K, V):
    weights = softmax(K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1]))
    return weights @ V, weights
""",
        case="another table",
        question=(
            "When your weights meet `V`, their last axis does not count keys. Where in your code does "
            "that axis come from?"
        ),
    ),
    Mistake(
        id="attention-weights-turned",
        cause="the weights are turned before they meet the values",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    return np.swapaxes(weights, -1, -2) @ V, weights
""",
        case="another table",
        question=(
            "When your weights meet `V`, their last axis does not count keys. Where in your code does "
            "that axis come from?"
        ),
    ),
    Mistake(
        id="attention-adds-up-keys",
        cause="the weighted sum is of keys, not of values",
        code=Edit(RIGHT_ATTENTION, "weights @ V", "weights @ K"),
        case="another table",
        question="Your output is a weighted sum of keys. What does a key's owner hand over when it is found?",
    ),
    Mistake(
        id="attention-output-only",
        cause="only the output is returned",
        code="""
def attention(Q, K, V):
    return softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])) @ V
""",
        case="another table",
        question="Return 2 values, (output, weights)",
    ),
    Mistake(
        id="attention-weights-first",
        cause="weights are returned before the output",
        code=Edit(RIGHT_ATTENTION, "weights @ V, weights", "weights, weights @ V"),
        case="another table",
        question=(
            "Your weights stand where the output belongs. In which order does the signature return the two?"
        ),
    ),
    Mistake(
        id="attention-as-many-keys-as-queries",
        cause="as many keys as queries are taken",
        code="""
def attention(Q, K, V):
    n = Q.shape[-2]
    scores = np.zeros((*Q.shape[:-2], n, n))
    for i in range(n):
        for j in range(n):
            scores[..., i, j] = (Q[..., i, :] * K[..., j, :]).sum(axis=-1) / np.sqrt(K.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights
""",
        case="another table",
        question=(
            "When your weights meet `V`, their last axis does not count keys. Where in your code does "
            "that axis come from?"
        ),
    ),
    Mistake(
        id="attention-values-as-wide-as-keys",
        cause="values are taken to be as wide as queries",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    output = np.zeros_like(Q, dtype=float)
    for i in range(Q.shape[-2]):
        output[..., i, :] = (weights[..., i, :, None] * V).sum(axis=-2)
    return output, weights
""",
        case="another table",
        question="How wide is a row of the output: as wide as a query, or as wide as a value?",
    ),
    Mistake(
        id="attention-transpose-of-a-batch",
        cause="K.T reverses all axes of a batch",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ K.T / np.sqrt(K.shape[-1]))
    return weights @ V, weights
""",
        behaviour="batches",
        case="a batch",
        question=(
            "`K.T` reverses all axes, also the one that counts tables. Which two should change places?"
        ),
    ),
    Mistake(
        id="attention-width-from-axis-1",
        cause="the width is read from axis 1, which is not the last one in a batch",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[1]))
    return weights @ V, weights
""",
        behaviour="batches",
        case="a batch",
        question=(
            "Your scores are divided by the root of another axis than the width. Which axis is "
            "`shape[1]` in a batch?"
        ),
    ),
    Mistake(
        id="attention-squeezed",
        cause="axes of length 1 are dropped",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    return np.squeeze(weights @ V), np.squeeze(weights)
""",
        behaviour="batches",
        case="a batch of one",
        question="An axis of length 1 is gone. Which call drops such axes, and must this one stay?",
    ),
    Mistake(
        id="attention-scales-queries-in-place",
        cause="the queries are scaled in place",
        code="""
def attention(Q, K, V):
    Q /= np.sqrt(Q.shape[-1])
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    return weights @ V, weights
""",
        behaviour="any input",
        case="integers",
        question=(
            "Which of your lines writes into `Q` instead of making a new array? The caller still needs `Q`."
        ),
    ),
    Mistake(
        id="attention-softmax-overflows",
        cause="a softmax of one's own without the largest score taken off",
        code="""
def attention(Q, K, V):
    exponentials = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
        behaviour="any input",
        case="very long queries",
        question=(
            "`exp` of your largest score is infinite. What may be taken off all scores of a row "
            "without changing its weights?"
        ),
    ),
    Mistake(
        id="attention-one-maximum-for-all",
        cause="the largest score of the whole table is taken off every row",
        code="""
def attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    exponentials = np.exp(scores - scores.max())
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
        behaviour="any input",
        case="very long queries",
        question=(
            "One number is taken off the scores of all queries, and in some row every `exp` is then "
            "0. Whose largest score is safe for a row?"
        ),
    ),
    Mistake(
        id="attention-integer-output",
        cause="the output takes its type from integer values",
        code="""
def attention(Q, K, V):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    output = np.empty((*Q.shape[:-1], V.shape[-1]), dtype=V.dtype)
    output[...] = weights @ V
    return output, weights
""",
        behaviour="any input",
        case="integers",
        question="output must hold real numbers (floats); yours holds integers",
    ),
    *versions(
        id="attention-library",
        cause="attention is called that exists already",
        of={
            "the course's": (
                """
import course_lib.attention


def attention(Q, K, V):
    return course_lib.attention.attention(Q, K, V)
""",
                "another table",
                "it calls course_lib.attention.attention; this exercise is to write that yourself",
            ),
            "PyTorch's": (
                """
import torch
import torch.nn.functional as F


def attention(Q, K, V):
    Q, K, V = (torch.from_numpy(table).double() for table in (Q, K, V))
    weights = softmax(Q.numpy() @ np.swapaxes(K.numpy(), -1, -2) / np.sqrt(K.shape[-1]))
    return F.scaled_dot_product_attention(Q, K, V).numpy(), weights
""",
                "another table",
                (
                    "it calls torch.nn.functional.scaled_dot_product_attention; this exercise is to write "
                    "that yourself"
                ),
            ),
        },
    ),
    Mistake(
        id="self-attention-root-of-model-width",
        cause="divided by the root of the width of X",
        code="""
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(X.shape[-1]))
    return weights @ V, weights
""",
        case="a sequence",
        question="Your scores are divided by the root of the width of `X`. Whose dot products are they?",
    ),
    Mistake(
        id="self-attention-adds-up-rows",
        cause="the weighted sum is of rows of X, not of their values",
        code="""
def self_attention(X, W_q, W_k, W_v):
    _, weights = attention(X @ W_q, X @ W_k, X @ W_v)
    return weights @ X, weights
""",
        case="a sequence",
        question="Your output is a weighted sum of rows of `X`. Which view of a row is handed over?",
    ),
    Mistake(
        id="self-attention-without-queries-and-keys",
        cause="rows of X are compared with each other directly",
        code="""
def self_attention(X, W_q, W_k, W_v):
    return attention(X, X, X @ W_v)
""",
        case="a sequence",
        question=(
            "Your scores are dot products of rows of `X` themselves. What did the chapter put in "
            "between, and why?"
        ),
    ),
    Mistake(
        id="self-attention-shared-matrix",
        cause="one matrix makes queries and keys",
        code="""
def self_attention(X, W_q, W_k, W_v):
    return attention(X @ W_q, X @ W_q, X @ W_v)
""",
        case="a sequence",
        question="Your table of scores is symmetric. Which matrix makes the keys?",
    ),
    Mistake(
        id="self-attention-keys-ask",
        cause="keys are passed as queries and queries as keys",
        code="""
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = project(X, W_q, W_k, W_v)
    return attention(K, Q, V)
""",
        case="a sequence",
        question=(
            "Your scores are the right ones turned: each key asks the queries. In which order does "
            "`attention` take the three?"
        ),
    ),
    Mistake(
        id="self-attention-values-as-keys",
        cause="keys and values are exchanged in the call",
        code="""
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = project(X, W_q, W_k, W_v)
    return attention(Q, V, K)
""",
        case="a sequence",
        question=(
            "Two tables of different width meet in a dot product. In which order does `attention` "
            "take the three?"
        ),
    ),
    Mistake(
        id="self-attention-causal",
        cause="later rows are hidden",
        code="""
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = project(X, W_q, W_k, W_v)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    earlier = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    weights = softmax(np.where(earlier, scores, -1e9))
    return weights @ V, weights
""",
        case="a sequence",
        question="Your rows do not see the rows behind them. Does this exercise have a mask?",
    ),
    Mistake(
        id="self-attention-without-itself",
        cause="no row attends to itself",
        code="""
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = project(X, W_q, W_k, W_v)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(np.where(np.eye(X.shape[-2], dtype=bool), -1e9, scores))
    return weights @ V, weights
""",
        case="a sequence",
        question="Your rows give themselves no weight. May a row attend to itself here?",
    ),
    Mistake(
        id="self-attention-only-first-table",
        cause="of a batch only the first table is taken",
        code="""
def self_attention(X, W_q, W_k, W_v):
    while X.ndim > 2:
        X = X[0]
    return attention(*project(X, W_q, W_k, W_v))
""",
        behaviour="any input",
        case="a batch",
        question="Only the first table of your batch attends. What becomes of the others?",
    ),
    Mistake(
        id="self-attention-over-the-whole-batch",
        cause="rows attend to rows of other tables of the batch",
        code="""
def self_attention(X, W_q, W_k, W_v):
    rows = X.reshape(-1, X.shape[-1])
    output, weights = attention(rows @ W_q, rows @ W_k, rows @ W_v)
    return output.reshape(*X.shape[:-1], -1), weights
""",
        behaviour="any input",
        case="a batch",
        question="Rows of one table attend to rows of another. Where do the tables of a batch get mixed?",
    ),
    Mistake(
        id="cross-attention-exchanged",
        cause="queries come from Y, keys and values from X",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    return attention(Y @ W_q, X @ W_k, X @ W_v)
""",
        case="X shorter than Y",
        question="Your output has a row for each row of `Y`. Which of the two sequences asks?",
    ),
    Mistake(
        id="cross-attention-values-from-x",
        cause="values come from X",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    return attention(X @ W_q, Y @ W_k, X @ W_v)
""",
        case="X shorter than Y",
        question=(
            "There must be a value for each key. From which sequence does each of the two come in your code?"
        ),
    ),
    Mistake(
        id="cross-attention-keys-from-x",
        cause="keys come from X",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    return attention(X @ W_q, X @ W_k, Y @ W_v)
""",
        case="X shorter than Y",
        question="There are as many values as rows of `Y`. And how many keys, and from which sequence?",
    ),
    Mistake(
        id="cross-attention-ignores-y",
        cause="X attends to itself",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    return attention(X @ W_q, X @ W_k, X @ W_v)
""",
        case="X shorter than Y",
        question="Your weights have a column for each row of `X`. Where does `Y` come in?",
    ),
    Mistake(
        id="cross-attention-ignores-x",
        cause="Y attends to itself",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    return attention(Y @ W_q, Y @ W_k, Y @ W_v)
""",
        case="X shorter than Y",
        question="`Y` attends to itself in your code. Where does `X` come in?",
    ),
    Mistake(
        id="cross-attention-over-both",
        cause="X attends to X and Y together",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    both = np.concatenate([X, Y], axis=-2)
    return attention(X @ W_q, both @ W_k, both @ W_v)
""",
        case="X shorter than Y",
        question=(
            "Your weights have a column for each row of both sequences. Which rows are in the table "
            "that `X` asks?"
        ),
    ),
    Mistake(
        id="cross-attention-stacked",
        cause="the two sequences are stacked, as if equally long",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    both = np.stack([X, Y])
    return attention(both[0] @ W_q, both[1] @ W_k, both[1] @ W_v)
""",
        case="X shorter than Y",
        question="Your code puts `X` and `Y` side by side. Need they be equally long?",
    ),
    Mistake(
        id="cross-attention-dot-of-batches",
        cause="np.dot pairs every table of one batch with every table of the other",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    Q, K, V = X @ W_q, Y @ W_k, Y @ W_v
    weights = softmax(np.dot(Q, np.swapaxes(K, -1, -2)) / np.sqrt(K.shape[-1]))
    return np.dot(weights, V), weights
""",
        behaviour="any input",
        case="a batch",
        question=(
            "`np.dot` of two batches pairs every table with every table. Which product goes table by table?"
        ),
    ),
    Mistake(
        id="equivariance-invariance",
        cause="invariance is taken for equivariance",
        code="""
def equivariance_gap(layer, X, permutation):
    return float(np.abs(layer(X[..., permutation, :]) - layer(X)).max())
""",
        case="running sum",
        question=(
            "Your gap is 0 only when permuting changes nothing at all. Should the output stay, or "
            "move along with the input?"
        ),
    ),
    Mistake(
        id="equivariance-inverse",
        cause="the output is permuted the other way round",
        code="""
def equivariance_gap(layer, X, permutation):
    back = np.argsort(permutation)
    return float(np.abs(layer(X[..., permutation, :]) - layer(X)[..., back, :]).max())
""",
        case="running sum",
        question=(
            "You permute input and output in opposite ways. Which row of the output belongs to row 0 "
            "of the permuted input?"
        ),
    ),
    Mistake(
        id="equivariance-moved-to",
        cause="row i is moved to place p[i], not taken from there",
        code="""
def equivariance_gap(layer, X, permutation):
    back = np.argsort(permutation)
    return float(np.abs(layer(X[..., back, :]) - layer(X)[..., back, :]).max())
""",
        case="the row before",
        question=(
            "You move row `i` to place `permutation[i]`, in input and output. Is that what the "
            "statement calls the permuted `X`?"
        ),
    ),
    Mistake(
        id="equivariance-output-only",
        cause="the layer never sees the permuted input",
        code="""
def equivariance_gap(layer, X, permutation):
    output = layer(X)
    return float(np.abs(output[..., permutation, :] - output).max())
""",
        case="running sum",
        question=(
            "Your layer never sees the permuted rows. What happens to them before the layer is applied?"
        ),
    ),
    Mistake(
        id="equivariance-columns",
        cause="columns are permuted instead of rows",
        code="""
def equivariance_gap(layer, X, permutation):
    return float(np.abs(layer(X[..., permutation]) - layer(X)[..., permutation]).max())
""",
        case="attention, a cycle of three",
        question="`X[..., permutation]` picks along the last axis. Which axis holds the rows?",
    ),
    Mistake(
        id="equivariance-without-abs",
        cause="the largest difference is taken without its absolute value",
        code="""
def equivariance_gap(layer, X, permutation):
    return float((layer(X[..., permutation, :]) - layer(X)[..., permutation, :]).max())
""",
        case="running sum",
        question="Your gap overlooks differences below 0. What about their sign?",
    ),
    Mistake(
        id="equivariance-mean",
        cause="the mean difference instead of the largest",
        code="""
def equivariance_gap(layer, X, permutation):
    return float(np.abs(layer(X[..., permutation, :]) - layer(X)[..., permutation, :]).mean())
""",
        case="running sum",
        question=(
            "Your gap is the mean of the absolute differences. Which of them does the statement ask for?"
        ),
    ),
    Mistake(
        id="equivariance-norm",
        cause="the root of the sum of squares instead of the largest",
        code="""
def equivariance_gap(layer, X, permutation):
    difference = layer(X[..., permutation, :]) - layer(X)[..., permutation, :]
    return float(np.sqrt((difference**2).sum()))
""",
        case="running sum",
        question=(
            "Your gap is the root of the summed squares of the differences. Which single difference "
            "is asked for?"
        ),
    ),
    Mistake(
        id="equivariance-relative",
        cause="the gap is divided by the size of the output",
        code="""
def equivariance_gap(layer, X, permutation):
    output = layer(X)[..., permutation, :]
    return float(np.abs(layer(X[..., permutation, :]) - output).max() / np.abs(output).max())
""",
        case="running sum",
        question=(
            "Your gap is divided by the largest entry of the output. Does the statement ask for a "
            "part or for a difference?"
        ),
    ),
    Mistake(
        id="equivariance-true-or-false",
        cause="an answer yes or no instead of a number",
        code="""
def equivariance_gap(layer, X, permutation):
    return np.allclose(layer(X[..., permutation, :]), layer(X)[..., permutation, :])
""",
        case="attention, a cycle of three",
        question="Return gap as a number, not True or False",
    ),
    Mistake(
        id="equivariance-batch-axis",
        cause="the first axis is permuted, which counts tables in a batch",
        code="""
def equivariance_gap(layer, X, permutation):
    return float(np.abs(layer(X[permutation]) - layer(X)[permutation]).max())
""",
        behaviour="any input",
        case="attention on a batch",
        question=("`X[permutation]` picks along the first axis. What does the first axis of a batch count?"),
    ),
    Mistake(
        id="equivariance-one-gap-per-table",
        cause="a gap for each table instead of one for all",
        code="""
def equivariance_gap(layer, X, permutation):
    difference = layer(X[..., permutation, :]) - layer(X)[..., permutation, :]
    return np.abs(difference).max(axis=(-2, -1))
""",
        behaviour="any input",
        case="attention on a batch",
        question=("Each table of the batch has its own gap in your result. How many numbers are asked for?"),
    ),
    Mistake(
        id="equivariance-permutes-in-place",
        cause="the rows of X are permuted in place",
        code="""
def equivariance_gap(layer, X, permutation):
    output = layer(X)
    X[...] = X[..., permutation, :]
    return float(np.abs(layer(X) - output[..., permutation, :]).max())
""",
        behaviour="any input",
        case="the usual",
        question="Your function changes its input X",
    ),
    *versions(
        id="column-lost",
        cause="the last axis is taken away where it has length 1",
        behaviour="any input",
        of={
            "project": (
                """
def project(X, W_q, W_k, W_v):
    return tuple(X @ W if W.shape[1] > 1 else X @ W[:, 0] for W in (W_q, W_k, W_v))
""",
                "matrices of one column",
                "A matrix of one column gives you no last axis. Which shape does the signature give then?",
            ),
            "self_attention": (
                """
def self_attention(X, W_q, W_k, W_v):
    output, weights = attention(*project(X, W_q, W_k, W_v))
    return (output[..., 0] if output.shape[-1] == 1 else output), weights
""",
                "matrices of one column",
                "Values of width 1 lose their axis in your output. Which shape does the signature give then?",
            ),
        },
    ),
    *versions(
        id="own-softmax-overflows",
        cause="a softmax of its own overflows",
        behaviour="any input",
        of={
            "self_attention": (
                """
def self_attention(X, W_q, W_k, W_v):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    exponentials = np.exp(Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1]))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V, weights
""",
                "long rows",
                "Your `exp` of a large score is infinite. Which of your functions takes any scores?",
            ),
            "cross_attention": (
                """
def cross_attention(X, Y, W_q, W_k, W_v):
    exponentials = np.exp((X @ W_q) @ np.swapaxes(Y @ W_k, -1, -2) / np.sqrt(W_k.shape[1]))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ (Y @ W_v), weights
""",
                "long rows",
                "Your `exp` of a large score is infinite. Which of your functions takes any scores?",
            ),
        },
    ),
    *versions(
        id="equivariance-small-gap-is-none",
        cause="a small gap is taken for none",
        behaviour="any input",
        of={
            "below a limit": (
                """
def equivariance_gap(layer, X, permutation):
    gap = np.abs(layer(X[..., permutation, :]) - layer(X)[..., permutation, :]).max()
    return float(gap) if gap > 1e-3 else 0.0
""",
                "a small gap",
                "Your gap is 0 where the two differ a little. Does a small gap count?",
            ),
            "by allclose": (
                """
def equivariance_gap(layer, X, permutation):
    first, second = layer(X[..., permutation, :]), layer(X)[..., permutation, :]
    return 0.0 if np.allclose(first, second) else float(np.abs(first - second).max())
""",
                "a gap beside large numbers",
                "Your gap is 0 where the two differ a little. Does a small gap count?",
            ),
        },
    ),
    Mistake(
        id="equivariance-permutes-in-place-and-back",
        cause="the rows of X are permuted in place, and back later: what a layer returned may be X itself",
        code="""
def equivariance_gap(layer, X, permutation):
    output = layer(X)
    X[...] = X[..., permutation, :]
    gap = float(np.abs(layer(X) - output[..., permutation, :]).max())
    X[...] = X[..., np.argsort(permutation), :]
    return gap
""",
        behaviour="any input",
        case="a layer that returns its input",
        question="This layer returns the very array that it gets. Which of your steps writes into that?",
    ),
)

RIGHT = (
    RightAnswer(
        id="project-one-product",
        function="project",
        code="""
def project(X, W_q, W_k, W_v):
    together = X @ np.concatenate([W_q, W_k, W_v], axis=1)
    width = W_q.shape[1]
    return together[..., :width], together[..., width : 2 * width], together[..., 2 * width :]
""",
    ),
    RightAnswer(
        id="project-einsum",
        function="project",
        code="""
def project(X, W_q, W_k, W_v):
    return [np.einsum("...ld,dk->...lk", X, W) for W in (W_q, W_k, W_v)]
""",
    ),
    RightAnswer(
        id="project-float32-columns",
        function="project",
        code="""
def project(X, W_q, W_k, W_v):
    columns = np.swapaxes(X, -1, -2).astype(np.float32)
    return tuple(np.swapaxes(W.astype(np.float32).T @ columns, -1, -2) for W in (W_q, W_k, W_v))
""",
    ),
    RightAnswer(
        id="project-loops",
        function="project",
        code="""
def project(X, W_q, W_k, W_v):
    def product(W):
        result = np.zeros((*X.shape[:-1], W.shape[1]))
        for index in np.ndindex(*X.shape[:-1]):
            for d in range(X.shape[-1]):
                result[index] += X[index][d] * W[d]
        return result

    return product(W_q), product(W_k), product(W_v)
""",
    ),
    RightAnswer(
        id="attention-loops-and-own-softmax",
        function="attention",
        code="""
import math


def attention(Q, K, V):
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]))
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for index in np.ndindex(*Q.shape[:-1]):
        table = index[:-1]
        scores = [sum(q * k for q, k in zip(Q[index], key)) / math.sqrt(len(key)) for key in K[table]]
        largest = max(scores)
        total = sum(math.exp(score - largest) for score in scores)
        weights[index] = [math.exp(score - largest) / total for score in scores]
        for weight, value in zip(weights[index], V[table]):
            output[index] += weight * value
    return output, weights
""",
    ),
    RightAnswer(
        id="attention-torch-inside",
        function="attention",
        code="""
import torch


def attention(Q, K, V):
    queries, keys, values = (torch.as_tensor(table, dtype=torch.float64) for table in (Q, K, V))
    weights = torch.softmax(queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5, dim=-1)
    return (weights @ values).numpy(), weights.numpy()
""",
    ),
    RightAnswer(
        id="attention-float32-einsum",
        function="attention",
        code="""
def attention(Q, K, V):
    Q, K, V = (np.asarray(table, dtype=np.float32) for table in (Q, K, V))
    weights = softmax(np.einsum("...lk,...mk->...lm", Q, K) / np.sqrt(np.float32(K.shape[-1])))
    return np.einsum("...lm,...mv->...lv", weights, V), weights
""",
    ),
    RightAnswer(
        id="attention-fortran-order",
        function="attention",
        code="""
def attention(Q, K, V):
    scores = np.matmul(np.asfortranarray(Q), np.asfortranarray(np.swapaxes(K, -1, -2)))
    weights = softmax(scores * K.shape[-1] ** -0.5)
    return np.asfortranarray(np.matmul(weights, V)), np.asfortranarray(weights)
""",
    ),
    RightAnswer(
        id="attention-views-and-columns",
        function="attention",
        code="""
def attention(Q, K, V):
    scores = K @ np.swapaxes(Q, -1, -2) / np.sqrt(Q.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-2, keepdims=True))
    columns = exponentials / exponentials.sum(axis=-2, keepdims=True)
    return np.swapaxes(np.swapaxes(V, -1, -2) @ columns, -1, -2), np.swapaxes(columns, -1, -2)
""",
    ),
    RightAnswer(
        id="attention-quarter-power",
        function="attention",
        code="""
def attention(Q, K, V):
    quarter = K.shape[-1] ** -0.25
    scores = (Q * quarter) @ np.moveaxis(K * quarter, -1, -2)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))
    return (weights[..., None] * V[..., None, :, :]).sum(axis=-2), weights
""",
    ),
    RightAnswer(
        id="attention-generator",
        function="attention",
        code="""
def attention(Q, K, V):
    if Q.ndim > 2:
        outputs, weights = zip(*(attention(*tables) for tables in zip(Q, K, V)))
        return np.stack(outputs), np.stack(weights)
    weights = np.vstack([softmax(query @ K.T / len(query) ** 0.5) for query in Q])
    return np.stack([row @ V for row in weights]), weights
""",
    ),
    RightAnswer(
        id="self-attention-one-matrix-for-scores",
        function="self_attention",
        code="""
def self_attention(X, W_q, W_k, W_v):
    scores = X @ (W_q @ W_k.T) @ np.swapaxes(X, -1, -2) / np.sqrt(W_k.shape[1])
    weights = softmax(scores)
    return (weights @ X) @ W_v, weights
""",
    ),
    RightAnswer(
        id="self-attention-class",
        function="self_attention",
        code="""
class SelfAttention:
    def __call__(self, X, W_q, W_k, W_v, mask=None):
        Q, K, V = project(X, W_q, W_k, W_v)
        return attention(Q=Q, K=K, V=V)


self_attention = SelfAttention()
""",
    ),
    RightAnswer(
        id="self-attention-float32",
        function="self_attention",
        code="""
def self_attention(X, W_q, W_k, W_v):
    return attention(*project(*(each.astype(np.float32) for each in (X, W_q, W_k, W_v))))
""",
    ),
    RightAnswer(
        id="cross-attention-torch-linear",
        function="cross_attention",
        code="""
import torch


def cross_attention(X, Y, W_q, W_k, W_v):
    X, Y, W_q, W_k, W_v = (torch.tensor(each, dtype=torch.float32) for each in (X, Y, W_q, W_k, W_v))
    linear = torch.nn.functional.linear
    scores = linear(X, W_q.T) @ linear(Y, W_k.T).mT / W_k.shape[1] ** 0.5
    weights = scores.softmax(-1)
    return (weights @ linear(Y, W_v.T)).numpy(), weights.numpy()
""",
    ),
    RightAnswer(
        id="cross-attention-projects-both",
        function="cross_attention",
        code="""
def cross_attention(X, Y, W_q, W_k, W_v):
    queries, _, _ = project(X, W_q, W_k, W_v)
    _, keys, values = project(Y, W_q, W_k, W_v)
    return list(attention(queries, keys, values))
""",
    ),
    RightAnswer(
        id="equivariance-permutation-matrix",
        function="equivariance_gap",
        code="""
def equivariance_gap(layer, X, permutation):
    P = np.eye(len(permutation))[permutation]
    return np.abs(layer(P @ X) - P @ layer(X)).max()
""",
    ),
    RightAnswer(
        id="equivariance-permuted-back",
        function="equivariance_gap",
        code="""
def equivariance_gap(layer, X, permutation):
    back = np.empty_like(permutation)
    back[permutation] = np.arange(len(permutation))
    difference = np.take(layer(np.take(X, permutation, axis=-2)), back, axis=-2) - layer(X)
    return max(difference.max(), -difference.min())
""",
    ),
    RightAnswer(
        id="equivariance-loops-table-by-table",
        function="equivariance_gap",
        code="""
def equivariance_gap(layer, X, permutation):
    if X.ndim > 2:
        return max(equivariance_gap(layer, table, permutation) for table in X)
    moved, still = layer(np.array([X[p] for p in permutation])), layer(X)
    return float(max(abs(a - b) for i, p in enumerate(permutation) for a, b in zip(moved[i], still[p])))
""",
    ),
    RightAnswer(
        id="equivariance-float32",
        function="equivariance_gap",
        code="""
def equivariance_gap(layer, X, permutation):
    moved = layer(X[..., permutation.tolist(), :]).astype(np.float32)
    still = layer(X).astype(np.float32)[..., permutation.tolist(), :]
    return np.linalg.norm((moved - still).ravel(), ord=np.inf)
""",
    ),
)
