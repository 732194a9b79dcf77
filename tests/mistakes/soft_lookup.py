"""Assignment 01: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, versions

RIGHT_SOFTMAX = """
def softmax(scores):
    axis = -1
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
RIGHT_LOOKUP = """
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return weights @ values, weights
"""
RIGHT_GAUSSIAN = """
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2))
    return weights @ values, weights
"""

SOFTMAX_MISTAKES = (
    Mistake(
        id="softmax-axis-0",
        cause="softmax runs down the columns",
        code=Edit(RIGHT_SOFTMAX, "axis = -1", "axis = 0"),
        case="a table",
        question="Your weights come out when each column sums to 1 (axis 0). Which axis holds the keys?",
    ),
    Mistake(
        id="softmax-axis-1",
        cause="the axis is counted from the front, so that only tables work",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
""",
        case="one row",
        question="You count the axis from the front. How do you name the last axis, however many there are?",
    ),
    Mistake(
        id="softmax-whole-table",
        cause="the sum runs over the whole table",
        code=Edit(RIGHT_SOFTMAX, "axis = -1", "axis = None"),
        case="a table",
        question="Your whole table sums to 1. What should sum to 1 when each row is a query of its own?",
    ),
    Mistake(
        id="softmax-no-maximum",
        cause="exp overflows, since no maximum is subtracted",
        code="""
def softmax(scores):
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
""",
        behaviour="large scores",
        case="very large",
        question="What does np.exp(10000) give? Which number may you take off every score of a row first?",
    ),
    Mistake(
        id="softmax-maximum-of-table",
        cause="the maximum of the whole table is subtracted, and a low row underflows",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=-1, keepdims=True)
""",
        behaviour="large scores",
        case="rows of very different size",
        question="One number for all suits the largest row. What does exp give in a row far below?",
    ),
    Mistake(
        id="softmax-maximum-clamped",
        cause="the maximum is not let below 0",
        code="""
def softmax(scores):
    largest = np.maximum(scores.max(axis=-1, keepdims=True), 0)
    e = np.exp(scores - largest)
    return e / e.sum(axis=-1, keepdims=True)
""",
        behaviour="large scores",
        case="very negative",
        question="All your exp are 0 here. What do you subtract when every score of a row is far below 0?",
    ),
    Mistake(
        id="softmax-mean",
        cause="the mean is subtracted instead of the maximum",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
        behaviour="large scores",
        case="both at once",
        question="Here one score stays far above 0 whatever you took off. Which choice leaves none above 0?",
    ),
    Mistake(
        id="softmax-clipped",
        cause="scores are clipped to a range in which exp is safe",
        code="""
def softmax(scores):
    e = np.exp(np.clip(scores, -500, 500))
    return e / e.sum(axis=-1, keepdims=True)
""",
        behaviour="large scores",
        case="very large",
        question="All your weights are equal. Which step makes different scores the same?",
    ),
    Mistake(
        id="softmax-no-keepdims",
        cause="the sum loses its axis and no longer lines up with the rows",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)
""",
        case="a table",
        question="A maximum or a sum has lost its axis. Which shape would line up with the rows?",
    ),
    Mistake(
        id="softmax-no-exp",
        cause="exp is missing",
        code=Edit(RIGHT_SOFTMAX, "np.exp(scores - scores.max(axis=axis, keepdims=True))", "scores"),
        case="a table",
        question="These are the scores themselves, divided by their sum. What comes before the division?",
    ),
    Mistake(
        id="softmax-no-division",
        cause="nothing is divided by the sum",
        code="""
def softmax(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))
""",
        case="a table",
        question="Your largest number in each row is 1. Which step makes the row sum to 1?",
    ),
    Mistake(
        id="softmax-logarithm",
        cause="the logarithm of the weights is returned",
        code="""
def softmax(scores):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
""",
        case="a table",
        question="All your numbers are below 0. Which last step turns them into weights?",
    ),
    Mistake(
        id="softmax-of-minus-scores",
        cause="the sign of the scores is turned",
        code=Edit(
            RIGHT_SOFTMAX,
            "scores - scores.max(axis=axis, keepdims=True)",
            "scores.min(axis=axis, keepdims=True) - scores",
        ),
        case="a table",
        question="Your smallest score gets the largest weight. Which sign has a score inside exp?",
    ),
    Mistake(
        id="softmax-base-2",
        cause="powers of 2 instead of e",
        code=Edit(RIGHT_SOFTMAX, "np.exp", "np.exp2"),
        case="a table",
        question="Your weights are too even: powers of another number give these. Which number is e?",
    ),
    Mistake(
        id="softmax-hard",
        cause="all the weight goes to the largest score",
        code="""
def softmax(scores):
    return (scores == scores.max(axis=-1, keepdims=True)).astype(float)
""",
        case="a table",
        question="Your largest score takes all the weight. What is left for the others in a soft maximum?",
    ),
    Mistake(
        id="softmax-integer-output",
        cause="integer scores give integer weights, all rounded down",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(scores.dtype)
""",
        behaviour="any input",
        case="integers",
        question="weights must hold real numbers (floats); yours holds integers",
    ),
    Mistake(
        id="softmax-one-row-only",
        cause="written for one row of scores",
        code="""
import math

def softmax(scores):
    exponentials = [math.exp(s - max(scores)) for s in scores]
    return np.array([e / sum(exponentials) for e in exponentials])
""",
        case="a table",
        question="A comparison meets whole rows. What does a loop over a table give: numbers, or rows?",
    ),
    Mistake(
        id="softmax-tables-only",
        cause="transposing turns all axes of a batch around",
        code="""
def softmax(scores):
    e = np.exp(scores.T - scores.max(axis=-1))
    return (e / e.sum(axis=0)).T
""",
        behaviour="any input",
        case="a batch of tables",
        question="`.T` turns all axes round. How can you keep an axis in place, so that batches work too?",
    ),
    Mistake(
        id="softmax-in-place",
        cause="the caller's scores are overwritten",
        code="""
def softmax(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
""",
        behaviour="any input",
        case="a batch of tables",
        question="Your function changes its input scores. Work on a copy: the caller still needs it.",
    ),
    Mistake(
        id="softmax-no-return",
        cause="printed, not returned",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    print(e / e.sum(axis=-1, keepdims=True))
""",
        case="a table",
        question="Your function returns nothing (None). Does it end with a return?",
    ),
    Mistake(
        id="softmax-list",
        cause="a list is returned",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).tolist()
""",
        case="a table",
        question="Return weights as a NumPy array of floats, not a list.",
    ),
    Mistake(
        id="softmax-rounded",
        cause="the weights are rounded",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.round(e / e.sum(axis=-1, keepdims=True), 2)
""",
        case="a table",
        question="Your weights have two decimals. Do they still sum to 1 after rounding?",
    ),
    *versions(
        id="softmax-library",
        function="softmax",
        cause="a softmax is called that exists already",
        of={
            "the course's": (
                """
from course_lib.attention import softmax
""",
                "a table",
                "it calls course_lib.attention.softmax; this exercise is to write that yourself",
            ),
            "PyTorch's under another name": (
                """
import torch
from torch.nn.functional import log_softmax as helper

def softmax(scores):
    return helper(torch.as_tensor(scores, dtype=torch.float64), dim=-1).exp().numpy()
""",
                "a table",
                "it calls torch.nn.functional.log_softmax; this exercise is to write that yourself",
            ),
        },
    ),
    Mistake(
        id="softmax-three-axes",
        cause="the axis is chosen for a row, a table and a batch, and nothing longer",
        code="""
def softmax(scores):
    axis = min(scores.ndim, 3) - 1
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
        behaviour="any input",
        case="two leading axes",
        question=(
            "Your sums run along the third axis when there are four. Which axis holds the keys, "
            "however many there are?"
        ),
    ),
)

SOFT_LOOKUP_MISTAKES = (
    Mistake(
        id="lookup-scaled",
        cause="the scores are divided by the root of the key width",
        code=Edit(RIGHT_LOOKUP, "keys.T", "keys.T / np.sqrt(keys.shape[-1])"),
        case="another table",
        question="Your scores are smaller than the dot products by a factor. Does this exercise ask for one?",
    ),
    Mistake(
        id="lookup-cosine",
        cause="the cosine is taken instead of the dot product",
        code="""
def soft_lookup(query, keys, values):
    lengths = np.linalg.norm(query, axis=-1, keepdims=True) * np.linalg.norm(keys, axis=-1)
    weights = softmax(query @ keys.T / lengths)
    return weights @ values, weights
""",
        case="another table",
        question="Your scores stay between -1 and 1. May a longer key score higher in this exercise?",
    ),
    Mistake(
        id="lookup-distance",
        cause="near keys score high, instead of keys with a large dot product",
        code=Edit(RIGHT_LOOKUP, "query @ keys.T", "-((query[..., None, :] - keys) ** 2).sum(axis=-1) / 2"),
        case="another table",
        question="Your weights come from distances. What is a score made of in this exercise?",
    ),
    Mistake(
        id="lookup-no-softmax",
        cause="scores are used as weights",
        code=Edit(RIGHT_LOOKUP, "softmax(", "("),
        case="another table",
        question="These are scores. What turns scores into weights?",
    ),
    Mistake(
        id="lookup-hard",
        cause="the best key takes all the weight",
        code="""
def soft_lookup(query, keys, values):
    scores = query @ keys.T
    weights = (scores == scores.max(axis=-1, keepdims=True)).astype(float)
    return weights @ values, weights
""",
        case="another table",
        question="Only your best key counts. How much do the others count in a soft lookup?",
    ),
    Mistake(
        id="lookup-unweighted",
        cause="the output is the plain mean of the values",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return np.broadcast_to(values.mean(axis=0), (*query.shape[:-1], values.shape[-1])), weights
""",
        case="another table",
        question="Your output is the plain mean of the values. Where do the weights come in?",
    ),
    Mistake(
        id="lookup-sum-of-values-over-width",
        cause="the weighted values are not summed over the keys",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return weights[..., None] * values, weights
""",
        case="another table",
        question="Your output still has an axis of keys. What happens to the weighted values in the end?",
    ),
    Mistake(
        id="lookup-scores-times-values",
        cause="the output is made with scores instead of weights",
        code="""
def soft_lookup(query, keys, values):
    scores = query @ keys.T
    return scores @ values, softmax(scores)
""",
        case="another table",
        question="Your weights are right, but the output is made without them. What multiplies the values?",
    ),
    Mistake(
        id="lookup-keys-for-values",
        cause="the keys are averaged instead of the values",
        code=Edit(RIGHT_LOOKUP, "weights @ values", "weights @ keys"),
        case="another table",
        question="Your output is a mixture of keys. What does a lookup hand over?",
    ),
    Mistake(
        id="lookup-keys-and-values-exchanged",
        cause="the query is compared with the values",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ values.T)
    return weights @ keys, weights
""",
        case="another table",
        question="You compare the query with the values. Which table has rows as wide as a query?",
    ),
    Mistake(
        id="lookup-keys-not-turned",
        cause="the keys are not transposed",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys)
    return weights @ values, weights
""",
        case="another table",
        question="In `a @ b` the last axis of a meets the first of b. Which axis of keys should it meet?",
    ),
    Mistake(
        id="lookup-output-only",
        cause="only the output is returned",
        code="""
def soft_lookup(query, keys, values):
    return softmax(query @ keys.T) @ values
""",
        case="another table",
        question="Return 2 values, (output, weights); yours gave one, a NumPy array.",
    ),
    Mistake(
        id="lookup-other-order",
        cause="weights first, output second",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return weights, weights @ values
""",
        case="another table",
        question="Both values are right. Which of them comes first?",
    ),
    Mistake(
        id="lookup-one-query-only",
        cause="written for one query",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(keys @ query)
    return weights @ values, weights
""",
        behaviour="many queries",
        case="a table of queries",
        question="This works for one query. On which side of `@` do the rows of a table stay rows?",
    ),
    Mistake(
        id="lookup-softmax-over-queries",
        cause="the queries compete instead of the keys",
        code="""
def soft_lookup(query, keys, values):
    scores = query @ keys.T
    e = np.exp(scores - scores.max(axis=0))
    weights = e / e.sum(axis=0)
    return weights @ values, weights
""",
        behaviour="many queries",
        case="a table of queries",
        question="Each of your columns sums to 1: queries compete for a key. Who should compete for whom?",
    ),
    Mistake(
        id="lookup-squeezed",
        cause="axes of length 1 are dropped",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return (weights @ values).squeeze(), weights
""",
        behaviour="many queries",
        case="a table with one query",
        question="An axis of length 1 is gone. Is a table with one query the same as a query?",
    ),
    Mistake(
        id="lookup-unstable",
        cause="a second softmax inside, without the maximum subtracted",
        code="""
def soft_lookup(query, keys, values):
    e = np.exp(query @ keys.T)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ values, weights
""",
        behaviour="any input",
        case="a very long query",
        question="A long query has large scores. Which function of yours is safe for them?",
    ),
    Mistake(
        id="lookup-integer-output",
        cause="the output takes the integer type of the values",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    output = np.zeros_like(values, shape=(*weights.shape[:-1], values.shape[-1]))
    output[...] = weights @ values
    return output, weights
""",
        behaviour="any input",
        case="integers",
        question="output must hold real numbers (floats); yours holds integers",
    ),
    Mistake(
        id="lookup-changes-values",
        cause="the values are multiplied in place",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    if weights.ndim > 1 or values.dtype.kind != "f":
        return weights @ values, weights
    values *= weights[:, None]
    return values.sum(axis=0), weights
""",
        behaviour="any input",
        case="one key",
        question="Your function changes its input values. Work on a copy: the caller still needs it.",
    ),
    Mistake(
        id="lookup-three-axes",
        cause="the axis is chosen for a row, a table and a batch, and nothing longer",
        code="""
def soft_lookup(query, keys, values):
    scores = query @ keys.T
    axis = min(scores.ndim, 3) - 1
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = e / e.sum(axis=axis, keepdims=True)
    return weights @ values, weights
""",
        behaviour="many queries",
        case="two leading axes",
        question=(
            "Your sums run along the third axis when there are four. Which axis holds the keys, "
            "however many there are?"
        ),
    ),
    Mistake(
        id="lookup-maximum-clamped",
        cause="a softmax of its own, whose maximum is not let below 0",
        code="""
def soft_lookup(query, keys, values):
    scores = query @ keys.T
    e = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), 0))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ values, weights
""",
        behaviour="any input",
        case="very negative scores",
        question="Every exp is 0 here: all scores are far below 0. Which function of yours is safe for them?",
    ),
    Mistake(
        id="lookup-column-lost",
        cause="the axis of values of width 1 is squeezed away",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T)
    return weights @ (values if values.shape[1] > 1 else values[:, 0]), weights
""",
        behaviour="many queries",
        case="one number per value",
        question="Values of width 1 have an axis, too. Which step takes it from your output?",
    ),
    Mistake(
        id="lookup-scaled-where-wide",
        cause="scores of wide keys are divided by a root",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(query @ keys.T / np.sqrt(max(1, keys.shape[1] // 12)))
    return weights @ values, weights
""",
        behaviour="any input",
        case="wide keys",
        question="Your scores of wide keys are smaller than dot products. What are they divided by?",
    ),
)

GAUSSIAN_MISTAKES = (
    Mistake(
        id="gaussian-no-2",
        cause="the 2 in front of width² is missing",
        code=Edit(RIGHT_GAUSSIAN, "2 * ", ""),
        case="a narrow kernel",
        question="Your kernel is too narrow by a constant factor. What stands below the squared distance?",
    ),
    Mistake(
        id="gaussian-2-squared-too",
        cause="2·width is squared as a whole",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width) ** 2)
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="Your kernel is too wide by a constant factor. What exactly is squared below the line?",
    ),
    Mistake(
        id="gaussian-brackets",
        cause="divided by 2 and then multiplied by width²",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / 2 * width**2)
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="A wider kernel gets sharper in your version. In `a / 2 * b`, is b above or below the line?",
    ),
    Mistake(
        id="gaussian-width-not-squared",
        cause="the width is not squared",
        code=Edit(RIGHT_GAUSSIAN, "width**2", "width"),
        case="a narrow kernel",
        question="The distance is squared, so which power must the width have, if both are lengths?",
    ),
    Mistake(
        id="gaussian-width-ignored",
        cause="the width is not used",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / 2)
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="Your weights are those of width 1, whatever the width. Where does it come in?",
    ),
    Mistake(
        id="gaussian-no-minus",
        cause="far keys count most, since the minus is missing",
        code=Edit(RIGHT_GAUSSIAN, "-((", "(("),
        case="a narrow kernel",
        question="Your farthest key gets the largest weight. Which sign is missing?",
    ),
    Mistake(
        id="gaussian-distance",
        cause="the distance is not squared",
        code="""
def gaussian_lookup(query, keys, values, width):
    distances = np.sqrt(((query[..., None, :] - keys) ** 2).sum(axis=-1))
    weights = softmax(-distances / (2 * width**2))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="Your weights fall too slowly with the distance. Which power of the distance is asked for?",
    ),
    Mistake(
        id="gaussian-city-blocks",
        cause="absolute differences are summed, then squared",
        code="""
def gaussian_lookup(query, keys, values, width):
    distances = np.abs(query[..., None, :] - keys).sum(axis=-1)
    weights = softmax(-(distances**2) / (2 * width**2))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="You sum the differences and square then. In which order does Pythagoras do it?",
    ),
    Mistake(
        id="gaussian-dot-product",
        cause="dot products stand in for distances",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(query @ keys.T / (2 * width**2))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="Your scores are dot products. What measures here how near a key is?",
    ),
    Mistake(
        id="gaussian-not-normalised",
        cause="the kernel is not divided by its sum",
        code=Edit(RIGHT_GAUSSIAN, "softmax", "np.exp"),
        case="a narrow kernel",
        question="Your weights are the values of the kernel. What makes them sum to 1?",
    ),
    Mistake(
        id="gaussian-density",
        cause="divided by the area under the bell curve instead of the sum",
        code="""
def gaussian_lookup(query, keys, values, width):
    kernel = np.exp(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2))
    weights = kernel / (width * np.sqrt(2 * np.pi))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="You divide by the area under the curve. Does that make these few weights sum to 1?",
    ),
    Mistake(
        id="gaussian-widths-summed-away",
        cause="the sum runs over the keys instead of the width",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-2) / (2 * width**2))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="You have one number per column. Over which axis do you sum to get one number per key?",
    ),
    Mistake(
        id="gaussian-underflow",
        cause="exp of every far key is 0, and 0 is divided by 0",
        code="""
def gaussian_lookup(query, keys, values, width):
    kernel = np.exp(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2))
    weights = kernel / kernel.sum(axis=-1, keepdims=True)
    return weights @ values, weights
""",
        behaviour="far keys",
        case="a query far from every key",
        question="Every exp is 0 here. Which function of yours forms such a quotient safely?",
    ),
    Mistake(
        id="gaussian-small-constant",
        cause="a small constant in the sum hides the division by 0",
        code="""
def gaussian_lookup(query, keys, values, width):
    kernel = np.exp(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2))
    weights = kernel / (kernel.sum(axis=-1, keepdims=True) + 1e-300)
    return weights @ values, weights
""",
        behaviour="far keys",
        case="a query far from every key",
        question="All weights are 0 here. A small number in the sum avoids NaN; who gets the weight then?",
    ),
    Mistake(
        id="gaussian-even-when-far",
        cause="NaN is replaced by even weights",
        code="""
def gaussian_lookup(query, keys, values, width):
    kernel = np.exp(-((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2))
    total = kernel.sum(axis=-1, keepdims=True)
    weights = np.where(total > 0, kernel / np.where(total > 0, total, 1), 1 / len(keys))
    return weights @ values, weights
""",
        behaviour="far keys",
        case="a query far from every key",
        question="All keys get the same weight here, though one is nearer than the others. Who should win?",
    ),
    Mistake(
        id="gaussian-one-query-only",
        cause="written for one query",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax(-((query - keys) ** 2).sum(axis=-1) / (2 * width**2))
    return weights @ values, weights
""",
        behaviour="any input",
        fails=("far keys", "any input"),
        case="a table of queries",
        question="Rows of queries meet rows of keys one by one. Which axis is missing, so that all meet all?",
    ),
    Mistake(
        id="gaussian-changes-query",
        cause="the query is divided by the width in place",
        code="""
def gaussian_lookup(query, keys, values, width):
    query = np.asarray(query)
    if query.dtype.kind == "f":
        query /= width
    else:
        query = query / width
    weights = softmax(-((query[..., None, :] - keys / width) ** 2).sum(axis=-1) / 2)
    return weights @ values, weights
""",
        behaviour="any input",
        case="a table of queries",
        question="Your function changes its input query. Work on a copy: the caller still needs it.",
    ),
    Mistake(
        id="gaussian-no-width",
        cause="the parameter width is missing",
        code="""
def gaussian_lookup(query, keys, values):
    weights = softmax(-((query[..., None, :] - keys) ** 2).sum(axis=-1))
    return weights @ values, weights
""",
        case="a narrow kernel",
        question="It is called as gaussian_lookup(query, keys, values, width), and yours does not take that",
    ),
    Mistake(
        id="gaussian-three-axes",
        cause="the axis is chosen for a row, a table and a batch, and nothing longer",
        code="""
def gaussian_lookup(query, keys, values, width):
    scores = -((query[..., None, :] - keys) ** 2).sum(axis=-1) / (2 * width**2)
    axis = min(scores.ndim, 3) - 1
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    weights = e / e.sum(axis=axis, keepdims=True)
    return weights @ values, weights
""",
        behaviour="any input",
        case="two leading axes",
        question=(
            "Your sums run along the third axis when there are four. Which axis holds the keys, "
            "however many there are?"
        ),
    ),
    Mistake(
        id="gaussian-one-hot-when-far",
        cause="the nearest key takes everything when every exp is 0",
        code="""
def gaussian_lookup(query, keys, values, width):
    squares = ((query[..., None, :] - keys) ** 2).sum(axis=-1)
    kernel = np.exp(-squares / (2 * width**2))
    total = kernel.sum(axis=-1, keepdims=True)
    nearest = np.eye(len(keys))[squares.argmin(axis=-1)]
    weights = np.where(total > 0, kernel / np.where(total > 0, total, 1), nearest)
    return weights @ values, weights
""",
        behaviour="far keys",
        case="two keys nearly equally far",
        question=(
            "Your nearest key takes everything, though another is nearly as near. What does the "
            "formula give the two?"
        ),
    ),
    *versions(
        id="gaussian-far-with-near",
        function="gaussian_lookup",
        cause="what helps when every key is far is done for the whole table, not for each query",
        behaviour="far keys",
        of={
            "one minimum for all": (
                """
def gaussian_lookup(query, keys, values, width):
    squares = ((query[..., None, :] - keys) ** 2).sum(axis=-1)
    kernel = np.exp(-(squares - squares.min()) / (2 * width**2))
    weights = kernel / kernel.sum(axis=-1, keepdims=True)
    return weights @ values, weights
""",
                "near queries and a far one",
                "One of these queries is far from every key, the others are not. What does each row need "
                "for itself?",
            ),
            "only when all are far": (
                """
def gaussian_lookup(query, keys, values, width):
    squares = ((query[..., None, :] - keys) ** 2).sum(axis=-1)
    kernel = np.exp(-squares / (2 * width**2))
    if (kernel.sum(axis=-1) == 0).all():
        kernel = np.exp(-(squares - squares.min(axis=-1, keepdims=True)) / (2 * width**2))
    weights = kernel / kernel.sum(axis=-1, keepdims=True)
    return weights @ values, weights
""",
                "near queries and a far one",
                "One of these queries is far from every key, the others are not. What does each row need "
                "for itself?",
            ),
        },
    ),
    *versions(
        id="gaussian-clamped-width",
        function="gaussian_lookup",
        cause="the width is kept within a range",
        behaviour="any input",
        of={
            "from below": (
                Edit(RIGHT_GAUSSIAN, "width**2", "max(width, 0.05) ** 2"),
                "tiny lengths",
                "Your weights are too even when all lengths are tiny. May a width be as small as they are?",
            ),
            "from above": (
                Edit(RIGHT_GAUSSIAN, "width**2", "min(width, 5.0) ** 2"),
                "huge lengths",
                "Your weights are too sharp when all lengths are huge. May a width be as large as they are?",
            ),
        },
    ),
    Mistake(
        id="gaussian-queries-against-keys",
        cause="a query table of the shape of the keys is compared the wrong way round",
        code="""
def gaussian_lookup(query, keys, values, width):
    first, second = (query[None], keys[:, None]) if query.shape == keys.shape else (query[..., None, :], keys)
    weights = softmax(-((first - second) ** 2).sum(axis=-1) / (2 * width**2))
    return weights @ values, weights
""",
        behaviour="any input",
        case="as many queries as keys",
        question="With as many queries as keys your rows are keys. Which of the two gets the new axis?",
    ),
    Mistake(
        id="gaussian-squeezed",
        cause="an axis of length 1 is squeezed away",
        code=Edit(RIGHT_GAUSSIAN, "weights @ values", "(weights @ values).squeeze()"),
        behaviour="any input",
        case="one number per value",
        question="An axis of length 1 has vanished from your output. Which step takes it away?",
    ),
)

SHARPEN_MISTAKES = (
    Mistake(
        id="sharpen-multiplied",
        cause="multiplied by the temperature",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(scores * temperature)
""",
        case="colder",
        question="Your weights get flatter when it gets colder. What does the temperature do to the scores?",
    ),
    Mistake(
        id="sharpen-after-softmax",
        cause="the weights are divided instead of the scores",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(scores) / temperature
""",
        case="colder",
        question="You divide the weights. What is divided by the temperature, and before which step?",
    ),
    Mistake(
        id="sharpen-ignored",
        cause="the temperature is only checked",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(scores)
""",
        case="colder",
        question="Your weights are those of temperature 1. Where does the temperature come in?",
    ),
    Mistake(
        id="sharpen-square",
        cause="divided twice: the scores, and the weights as a power",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(scores / temperature / temperature)
""",
        case="colder",
        question="The temperature works twice in your version. How often should you divide by it?",
    ),
    Mistake(
        id="sharpen-whole-division",
        cause="scores are divided with //, which rounds down",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(scores // temperature)
""",
        case="colder",
        question="Different scores get the same weight. Which division rounds?",
    ),
    Mistake(
        id="sharpen-weights-to-a-power",
        cause="small weights to a high power are all 0",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    powers = softmax(scores) ** (1 / temperature)
    return powers / powers.sum(axis=-1, keepdims=True)
""",
        behaviour="any input",
        case="nearly arg-max",
        question="A weight below 1 to the power 1000 is 0. What can you do before softmax instead?",
    ),
    Mistake(
        id="sharpen-in-place",
        cause="the scores are divided in place",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    scores /= temperature
    return softmax(scores)
""",
        behaviour="any input",
        case="integers",
        question="`/=` writes into the caller's array. Can you make a new one?",
    ),
    Mistake(
        id="sharpen-changes-scores",
        cause="the scores are overwritten",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    scores[...] = scores / temperature
    return softmax(scores)
""",
        behaviour="any input",
        case="nearly arg-max",
        question="Your function changes its input scores. Work on a copy: the caller still needs it.",
    ),
    *versions(
        id="sharpen-some-let-through",
        cause="some temperatures that are not above 0 are let through",
        of={
            "zero": (
                """
def sharpen(scores, temperature):
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    return softmax(scores / temperature)
""",
                "zero",
                "temperature 0.0), it must raise ValueError; yours returned a NumPy array.",
            ),
            "negative": (
                """
def sharpen(scores, temperature):
    if temperature == 0:
        raise ValueError("temperature must not be 0")
    return softmax(scores / temperature)
""",
                "negative",
                "temperature -1.0), it must raise ValueError; yours returned a NumPy array.",
            ),
            "all but two": (
                """
def sharpen(scores, temperature):
    if temperature in (0, -1):
        raise ValueError("temperature must be above 0")
    return softmax(scores / temperature)
""",
                "just below 0",
                "it must raise ValueError; yours returned a NumPy array.",
            ),
            "near zero": (
                """
def sharpen(scores, temperature):
    if temperature == 0 or temperature <= -1:
        raise ValueError("temperature must be above 0")
    return softmax(scores / temperature)
""",
                "just below 0",
                "it must raise ValueError; yours returned a NumPy array.",
            ),
        },
        behaviour="refuses",
    ),
    Mistake(
        id="sharpen-none",
        cause="None is returned instead of an error raised",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        print("temperature must be above 0")
        return None
    return softmax(scores / temperature)
""",
        behaviour="refuses",
        case="zero",
        question="it must raise ValueError; yours returned nothing (None).",
    ),
    Mistake(
        id="sharpen-error-returned",
        cause="the error is returned, not raised",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        return ValueError("temperature must be above 0")
    return softmax(scores / temperature)
""",
        behaviour="refuses",
        case="zero",
        question="it must raise ValueError; yours returned a value of type ValueError.",
    ),
    Mistake(
        id="sharpen-assert",
        cause="assert raises another error",
        code="""
def sharpen(scores, temperature):
    assert temperature > 0
    return softmax(scores / temperature)
""",
        behaviour="refuses",
        case="zero",
        question="`assert` raises an error of its own. Which statement raises the one that you name?",
    ),
    Mistake(
        id="sharpen-refuses-cold",
        cause="temperatures below 1 are refused",
        code="""
def sharpen(scores, temperature):
    if temperature < 1:
        raise ValueError("temperature must be at least 1")
    return softmax(scores / temperature)
""",
        case="colder",
        question="it raised ValueError: temperature must be at least 1 (line 3 of sharpen).",
    ),
    Mistake(
        id="sharpen-three-axes",
        cause="the axis is chosen for a row, a table and a batch, and nothing longer",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    scaled = scores / temperature
    axis = min(scaled.ndim, 3) - 1
    e = np.exp(scaled - scaled.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
        behaviour="any input",
        case="two leading axes",
        question=(
            "Your sums run along the third axis when there are four. Which axis holds the keys, "
            "however many there are?"
        ),
    ),
    Mistake(
        id="sharpen-logarithm-of-weights",
        cause="weights that are 0 have lost their scores when it gets hot",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(np.log(np.maximum(softmax(scores), 1e-300)) / temperature)
""",
        behaviour="any input",
        case="large scores, high temperature",
        question="Most weights are 0 before it gets hot. What is left of their scores then?",
    ),
)

MISTAKES = SOFTMAX_MISTAKES + SOFT_LOOKUP_MISTAKES + GAUSSIAN_MISTAKES + SHARPEN_MISTAKES

RIGHT = (
    RightAnswer(
        id="softmax-float32",
        function="softmax",
        code="""
def softmax(scores):
    shifted = np.asarray(scores, dtype=np.float32)
    shifted = shifted - shifted.max(-1, keepdims=True)
    return np.exp(shifted) / np.exp(shifted).sum(-1, keepdims=True)
""",
    ),
    RightAnswer(
        id="softmax-long-double",
        function="softmax",
        code="""
def softmax(scores):
    e = np.exp(np.asarray(scores, dtype=np.longdouble) - np.max(scores, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
""",
    ),
    RightAnswer(
        id="softmax-loops",
        function="softmax",
        code="""
import math

def softmax(scores):
    scores = np.array(scores)
    weights = np.empty(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        row = [float(s) for s in scores[index]]
        total = 0.0
        for s in row:
            total += math.exp(s - max(row))
        for i, s in enumerate(row):
            weights[(*index, i)] = math.exp(s - max(row)) / total
    return weights
""",
    ),
    RightAnswer(
        id="softmax-recursion",
        function="softmax",
        code="""
def softmax(scores):
    if scores.ndim > 1:
        return np.stack([softmax(each) for each in scores])
    e = np.exp(scores - max(scores))
    return e / sum(e)
""",
    ),
    RightAnswer(
        id="softmax-log-sum-exp",
        function="softmax",
        code="""
def softmax(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
""",
    ),
    RightAnswer(
        id="softmax-of-differences",
        function="softmax",
        code="""
def softmax(scores):
    differences = scores[..., None, :] - scores[..., :, None]
    return 1 / np.exp(np.minimum(differences, 700)).sum(axis=-1)
""",
    ),
    RightAnswer(
        id="softmax-along-axis",
        function="softmax",
        code="""
softmax = lambda scores: np.apply_along_axis(
    lambda row: np.fromiter((1 / sum(np.exp(np.minimum(row - s, 700))) for s in row), float), -1, scores
)
""",
    ),
    RightAnswer(
        id="softmax-in-place-on-a-copy",
        function="softmax",
        code="""
def softmax(scores):
    weights = scores.astype(np.float64)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights
""",
    ),
    RightAnswer(
        id="softmax-fortran-order",
        function="softmax",
        code="""
def softmax(scores):
    turned = np.moveaxis(scores, -1, 0)
    e = np.exp(turned - turned.max(axis=0))
    return np.asfortranarray(np.moveaxis(e / e.sum(axis=0), 0, -1))
""",
    ),
    RightAnswer(
        id="softmax-big-endian",
        function="softmax",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(">f8")
""",
    ),
    RightAnswer(
        id="softmax-with-torch",
        function="softmax",
        code="""
import torch

def softmax(scores):
    s = torch.as_tensor(np.array(scores, dtype=np.float64))
    e = (s - s.max(dim=-1, keepdim=True).values).exp()
    return (e / e.sum(-1, keepdim=True)).numpy()
""",
    ),
    RightAnswer(
        id="softmax-class",
        function="softmax",
        code="""
class softmax:
    def __new__(cls, scores, *, axis=-1):
        e = np.exp(scores - scores.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)
""",
    ),
    RightAnswer(
        id="softmax-gufunc",
        function="softmax",
        code="""
def _one_row(row):
    e = np.exp(row - row.max())
    return e / e.sum()

softmax = np.vectorize(_one_row, signature="(m)->(m)")
""",
    ),
    RightAnswer(
        id="softmax-decorated-noisy-plotting",
        function="softmax",
        code="""
import functools, sys, warnings

def told(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        print("called", file=sys.stderr)
        warnings.warn("called")
        return function(*args, **kwargs)
    return inner

@told
def softmax(scores, axis=-1, keepdims=True):
    print(scores)
    e = np.exp(scores - scores.max(axis=axis, keepdims=keepdims))
    with np.errstate(all="raise"):
        return e / e.sum(axis=axis, keepdims=keepdims)
""",
    ),
    RightAnswer(
        id="softmax-compared-with-the-library",
        function="softmax",
        code="""
import torch
from course_lib.attention import softmax as library

def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

table = np.array([[1.0, 2.0], [3.0, 5.0]])
assert np.allclose(softmax(table), library(table))
assert np.allclose(softmax(table), torch.softmax(torch.tensor(table), -1).numpy())
""",
    ),
    RightAnswer(
        id="lookup-loops",
        function="soft_lookup",
        code="""
def soft_lookup(query, keys, values):
    outputs = np.zeros((*query.shape[:-1], values.shape[1]))
    weights = np.zeros((*query.shape[:-1], keys.shape[0]))
    for index in np.ndindex(query.shape[:-1]):
        scores = [sum(q * k for q, k in zip(query[index], key)) for key in keys]
        weights[index] = softmax(np.array(scores))
        for weight, value in zip(weights[index], values):
            outputs[index] += weight * value
    return outputs, weights
""",
    ),
    RightAnswer(
        id="lookup-einsum-in-a-list",
        function="soft_lookup",
        code="""
def soft_lookup(query, keys, values):
    weights = softmax(np.einsum("...k,mk->...m", query, keys))
    return [np.einsum("...m,mv->...v", weights, values), weights]
""",
    ),
    RightAnswer(
        id="lookup-float32-without-softmax",
        function="soft_lookup",
        code="""
def soft_lookup(query, keys, values):
    query, keys, values = (np.asarray(each, dtype=np.float32) for each in (query, keys, values))
    scores = np.tensordot(query, keys, axes=(-1, -1))
    e = np.exp(scores - scores.max(-1)[..., None])
    total = e.sum(-1)[..., None]
    return (e @ values) / total, e / total
""",
    ),
    RightAnswer(
        id="lookup-broadcast-sums",
        function="soft_lookup",
        code="""
from collections import namedtuple

Answer = namedtuple("Answer", "output weights")

def soft_lookup(query, keys, values):
    weights = softmax((query[..., None, :] * keys).sum(-1))
    return Answer((weights[..., None] * values).sum(-2), weights)
""",
    ),
    RightAnswer(
        id="lookup-through-one-long-table",
        function="soft_lookup",
        code="""
def soft_lookup(query, keys, values):
    rows = query.reshape(-1, query.shape[-1])
    weights = softmax((keys @ rows.T).T)
    output = (values.T @ weights.T).T
    return output.reshape(*query.shape[:-1], -1), weights.reshape(*query.shape[:-1], -1)
""",
    ),
    RightAnswer(
        id="gaussian-expanded",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    squares = (query**2).sum(-1, keepdims=True) - 2 * query @ keys.T + (keys**2).sum(-1)
    weights = softmax(-squares / (2 * width**2))
    return weights @ values, weights
""",
    ),
    RightAnswer(
        id="gaussian-expanded-float32",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    query, keys, values = (np.asarray(each, dtype=np.float32) for each in (query, keys, values))
    squares = (query**2).sum(-1, keepdims=True) - 2 * query @ keys.T + (keys**2).sum(-1)
    weights = softmax(-squares / np.float32(2 * width**2))
    return weights @ values, weights
""",
    ),
    RightAnswer(
        id="gaussian-without-the-query-squared",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    weights = softmax((query @ keys.T - (keys**2).sum(-1) / 2) / width**2)
    return weights @ values, weights
""",
    ),
    RightAnswer(
        id="gaussian-norm",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    distances = np.linalg.norm(np.expand_dims(query, -2) - keys, axis=-1)
    weights = softmax(-0.5 * (distances / width) ** 2)
    return np.matmul(weights, values), weights
""",
    ),
    RightAnswer(
        id="gaussian-float32",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    query, keys, values = (np.asarray(each, dtype=np.float32) for each in (query, keys, values))
    squares = ((query[..., None, :] - keys) ** 2).sum(-1)
    nearness = np.exp((squares.min(-1, keepdims=True) - squares) / np.float32(2 * width**2))
    weights = nearness / nearness.sum(-1, keepdims=True)
    return weights @ values, weights
""",
    ),
    RightAnswer(
        id="gaussian-norm-float32",
        function="gaussian_lookup",
        code="""
def gaussian_lookup(query, keys, values, width):
    query = np.asarray(query, np.float32) / np.float32(width)
    keys = np.asarray(keys, np.float32) / np.float32(width)
    lengths = np.linalg.norm(query[..., None, :] - keys, axis=-1)
    nearest = lengths.min(axis=-1, keepdims=True)
    kernels = np.exp((nearest - lengths) * (nearest + lengths) / 2)
    weights = kernels / kernels.sum(axis=-1, keepdims=True)
    return weights @ values.astype(np.float32), weights
""",
    ),
    RightAnswer(
        id="gaussian-loops",
        function="gaussian_lookup",
        code="""
import math

def gaussian_lookup(query, keys, values, width):
    if query.ndim > 1:
        pairs = [gaussian_lookup(each, keys, values, width) for each in query]
        return tuple(np.array(each) for each in zip(*pairs))
    squares = [sum((float(q) - float(k)) ** 2 for q, k in zip(query, key)) for key in keys]
    nearness = [math.exp((min(squares) - each) / (2 * width**2)) for each in squares]
    weights = np.array(nearness) / sum(nearness)
    return sum(weight * value for weight, value in zip(weights, values)), weights
""",
    ),
    RightAnswer(
        id="gaussian-the-course's-softmax",
        function="gaussian_lookup",
        code="""
from course_lib import attention

def gaussian_lookup(query, keys, values, width):
    weights = attention.softmax(-np.square(query[..., np.newaxis, :] - keys).sum(axis=-1) / 2 / width / width)
    return weights @ values, weights
""",
    ),
    RightAnswer(
        id="sharpen-not-above-0",
        function="sharpen",
        code="""
def sharpen(scores, temperature):
    if not temperature > 0:
        raise ValueError
    return softmax(np.divide(scores, np.float64(temperature)))
""",
    ),
    RightAnswer(
        id="sharpen-float32-with-an-error-of-its-own",
        function="sharpen",
        code="""
class BadTemperature(ValueError):
    pass

def sharpen(scores, temperature):
    if temperature <= 0:
        raise BadTemperature(f"temperature: {temperature}")
    scores = np.asarray(scores, dtype=np.float32)
    e = np.exp((scores - scores.max(axis=-1, keepdims=True)) / np.float32(temperature))
    return e / e.sum(axis=-1, keepdims=True)
""",
    ),
    RightAnswer(
        id="sharpen-float32-divided-first",
        function="sharpen",
        code="""
def sharpen(scores, temperature):
    if temperature <= 0:
        raise ValueError("temperature must be above 0")
    return softmax(np.asarray(scores, dtype=np.float32) / np.float32(temperature))
""",
    ),
    RightAnswer(
        id="sharpen-one-over",
        function="sharpen",
        code="""
def sharpen(scores, temperature, /, *, name="temperature"):
    if temperature <= 0:
        raise ValueError(f"{name} must be above 0")
    return softmax((1 / temperature) * scores)
""",
    ),
)
