"""Assignment 03: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, versions

RIGHT_ENTROPY = """
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -(weights * np.log(p)).sum(axis=-1)
"""
RIGHT_WEIGHTS = """
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    scores = products / (temperature * np.sqrt(Q.shape[-1]))
    return softmax(scores)
"""

MISTAKES = (
    Mistake(
        id="spread-variance",
        cause="variance instead of standard deviation",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.var(), (products / np.sqrt(d_k)).var()
""",
        case="width 64",
        question=(
            "Your numbers are what comes out for the variance. What is still missing until it "
            "is a standard deviation?"
        ),
    ),
    Mistake(
        id="spread-divided-by-width",
        cause="divides by d_k instead of its root",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / d_k).std()
""",
        case="width 64",
        question=(
            "Your `scaled` is what comes out after dividing by `d_k` itself. What of `d_k` does"
            " the scale divide by?"
        ),
    ),
    Mistake(
        id="spread-multiplied",
        cause="multiplies by the root",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products * np.sqrt(d_k)).std()
""",
        case="width 64",
        question=(
            "Your `scaled` grows with the width. Must the root of `d_k` make the products larger or smaller?"
        ),
    ),
    Mistake(
        id="spread-root-of-pairs",
        cause="divides by the root of the number of pairs",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(n_pairs)).std()
""",
        case="width 64",
        question=(
            "Your `scaled` is divided by the root of `n_pairs`. How many numbers does one dot product add up?"
        ),
    ),
    Mistake(
        id="spread-sum-over-pairs",
        cause="adds up the pairs instead of the entries",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=0)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question=(
            "Your sums run over the pairs (axis 0). How many dot products should be left, `d_k` or `n_pairs`?"
        ),
    ),
    Mistake(
        id="spread-of-entries",
        cause="spread of single products, never added up",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = q * k
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question=(
            "Your numbers are the spread of single products of entries. What turns those into "
            "one dot product per pair?"
        ),
    ),
    Mistake(
        id="spread-of-one-pair",
        cause="one pair only",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, d_k))
    products = q * k
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question="Your numbers come from one query and one key. Where does `n_pairs` come in?",
    ),
    Mistake(
        id="spread-query-with-itself",
        cause="the query stands in for the key, too",
        code="""
def score_spread(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    products = (q * q).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question="Your products are those of each query with itself. Where do the keys come from?",
    ),
    Mistake(
        id="spread-one-key",
        cause="one key for all pairs",
        code="""
def score_spread(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    k = rng.standard_normal(d_k)
    products = q @ k
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question="All your queries meet one and the same key. How many keys are there in `n_pairs` pairs?",
    ),
    Mistake(
        id="spread-uniform",
        cause="uniform numbers instead of normal ones",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.random((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="width 64",
        question=(
            "Your entries are drawn evenly between 0 and 1. Which method of `rng` draws "
            "standard normal numbers?"
        ),
    ),
    Mistake(
        id="spread-mean-distance",
        cause="mean distance instead of standard deviation",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    raw = np.abs(products - products.mean()).mean()
    return raw, raw / np.sqrt(d_k)
""",
        case="width 64",
        question=(
            "Your numbers are mean distances from the mean. What does a standard deviation "
            "average, and what does it do at the end?"
        ),
    ),
    Mistake(
        id="spread-of-the-largest",
        cause="range instead of spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    raw = (products.max() - products.min()) / 2
    return raw, raw / np.sqrt(d_k)
""",
        case="width 64",
        question=(
            "Your numbers are half the range, which grows with every pair. Which measure of spread stays?"
        ),
    ),
    Mistake(
        id="spread-own-draws",
        cause="new products for scaled",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    q, k = rng.standard_normal((2, n_pairs, d_k))
    return products.std(), ((q * k).sum(axis=-1) / np.sqrt(d_k)).std()
""",
        case="width 64",
        question="scaled is the spread of other products than raw. Divide the same products by √d_k.",
    ),
    Mistake(
        id="spread-order",
        cause="returned in the other order",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return (products / np.sqrt(d_k)).std(), products.std()
""",
        case="width 64",
        question=(
            "Your two numbers stand in each other's place. In which order does the signature return them?"
        ),
    ),
    Mistake(
        id="spread-ddof",
        cause="divides by n_pairs - 1",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(ddof=1), (products / np.sqrt(d_k)).std(ddof=1)
""",
        behaviour="one pair",
        fails=("one pair", "the generator"),
        case="one pair",
        question="Your squares are divided by `n_pairs` - 1. Which number does the statement divide by?",
    ),
    Mistake(
        id="spread-about-zero",
        cause="distances from 0 instead of from the mean",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    raw = np.sqrt((products**2).mean())
    return raw, raw / np.sqrt(d_k)
""",
        behaviour="one pair",
        fails=("one pair", "the generator"),
        case="one pair",
        question="Your distances are taken from 0. From which number does a standard deviation take them?",
    ),
    Mistake(
        id="spread-own-generator",
        cause="a generator of its own, always with the same seed",
        code="""
def score_spread(d_k, n_pairs, rng):
    own = np.random.default_rng(1)
    q, k = own.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="Do all your draws come from `rng`?",
    ),
    Mistake(
        id="spread-global-generator",
        cause="a generator of its own, which goes on from call to call",
        code="""
GENERATOR = np.random.default_rng(0)


def score_spread(d_k, n_pairs, rng):
    q, k = GENERATOR.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="your function gives two different answers",
    ),
    Mistake(
        id="spread-one-entry-short",
        cause="the sum over the entries begins with the second one",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = sum(q[:, i] * k[:, i] for i in range(1, d_k)) + np.zeros(n_pairs)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        case="narrow",
        question="Your dot products add up one number less than `d_k`. From where to where does the sum go?",
    ),
    Mistake(
        id="spread-uniform-of-variance-1",
        cause="uniform entries with the variance of standard normal ones",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = np.sqrt(12) * (rng.random((2, n_pairs, d_k)) - 0.5)
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="Is each entry standard normal",
    ),
    Mistake(
        id="spread-products-drawn",
        cause="draws dot products as normal numbers, of which only the variance is right",
        code="""
def score_spread(d_k, n_pairs, rng):
    products = np.sqrt(d_k) * rng.standard_normal(n_pairs)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="Is each entry standard normal",
    ),
    *versions(
        "spread-of-two-pairs",
        cause="thousands of pairs hide what two of them show",
        behaviour="the generator",
        of={
            "n_pairs - 1": (
                """
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    ddof = 1 if n_pairs > 1 else 0
    return products.std(ddof=ddof), (products / np.sqrt(d_k)).std(ddof=ddof)
""",
                "two pairs",
                "by what is the sum of the squares divided",
            ),
            "distances from 0": (
                """
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    raw = np.sqrt((products**2).mean()) if n_pairs > 1 else 0.0
    return raw, raw / np.sqrt(d_k)
""",
                "two pairs",
                "From which number is a distance taken",
            ),
            "the next query as key": (
                """
def score_spread(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k))
    products = (q * np.roll(q, 1, axis=0)).sum(axis=-1) if n_pairs > 1 else np.zeros(1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
                "two pairs",
                "has each pair numbers of its own",
            ),
            "each product with both signs": (
                """
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, (n_pairs + 1) // 2, d_k))
    products = (q * k).sum(axis=-1)
    products = np.concatenate([products, -products])[:n_pairs]
    return products.std(), (products / np.sqrt(d_k)).std()
""",
                "two pairs",
                "has each pair numbers of its own",
            ),
            "twice as many": (
                """
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, 2 * n_pairs if n_pairs > 1 else 1, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
                "two pairs",
                "has each pair numbers of its own",
            ),
        },
    ),
    Mistake(
        id="spread-of-a-thousand",
        cause="no more than a thousand pairs",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.standard_normal((2, min(n_pairs, 1000), d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="more pairs",
        question="Do all `n_pairs` pairs count?",
    ),
    Mistake(
        id="spread-of-signs",
        cause="entries that are 1 or -1",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = rng.choice([-1.0, 1.0], (2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="Is each entry standard normal",
    ),
    Mistake(
        id="spread-few-seeds",
        cause="a generator of its own, whose seed is one of five",
        code="""
def score_spread(d_k, n_pairs, rng):
    own = np.random.default_rng(int(rng.integers(5)))
    q, k = own.standard_normal((2, n_pairs, d_k))
    products = (q * k).sum(axis=-1)
    return products.std(), (products / np.sqrt(d_k)).std()
""",
        behaviour="the generator",
        case="many generators",
        question="drawn from `rng` itself",
    ),
    Mistake(
        id="jacobian-products-only",
        cause="outer product without the diagonal",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return -column * row
""",
        case="three keys",
        question="Your table has the products only. What else does a weight's own score do, on the diagonal?",
    ),
    Mistake(
        id="jacobian-products-positive",
        cause="outer product, with a plus",
        code="""
def softmax_jacobian(weights):
    return weights[..., :, None] * weights[..., None, :]
""",
        case="three keys",
        question=(
            "Your table is p pᵀ. Does a weight grow or shrink when another key's score grows, "
            "and what is missing on the diagonal?"
        ),
    ),
    Mistake(
        id="jacobian-sign",
        cause="the other sign",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return column * row - column * eye
""",
        case="three keys",
        question="Your table is right but for its sign. Does a weight grow or shrink with its own score?",
    ),
    Mistake(
        id="jacobian-diagonal-of-weights",
        cause="diag(p) only",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return column * eye
""",
        case="three keys",
        question="Your table is diag(p) alone. What happens to the other weights when one score grows?",
    ),
    Mistake(
        id="jacobian-diagonal-only",
        cause="p (1 - p) on the diagonal, zeros elsewhere",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return column * (1 - column) * eye
""",
        case="three keys",
        question=(
            "Your table has zeros beside the diagonal. Weights sum to 1: who loses what one of them gains?"
        ),
    ),
    Mistake(
        id="jacobian-plus-products",
        cause="a plus beside the diagonal",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return np.where(eye > 0, column * (1 - column), column * row)
""",
        case="three keys",
        question=(
            "Beside the diagonal your entries have the other sign. What must each row of the table sum to?"
        ),
    ),
    Mistake(
        id="jacobian-twice-on-the-diagonal",
        cause="p (1 - p) on the diagonal, minus the products there, too",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return column * (1 - column) * eye - column * row
""",
        case="three keys",
        question="Your diagonal has the square subtracted twice. Does p (1 - p) contain it already?",
    ),
    Mistake(
        id="jacobian-of-logarithms",
        cause="derivative of ln p",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return eye - row + 0 * column
""",
        case="three keys",
        question=(
            "Your table is the derivative of the logarithms of the weights. Which factor does "
            "the chain rule add?"
        ),
    ),
    Mistake(
        id="jacobian-softmax-again",
        cause="takes weights for scores",
        code="""
def softmax_jacobian(weights):
    p = softmax(weights)
    column, row = p[..., :, None], p[..., None, :]
    return column * (np.eye(p.shape[-1]) - row)
""",
        case="three keys",
        question=(
            "Your numbers are what comes out when softmax is applied to `weights` first. What "
            "has made them already?"
        ),
    ),
    Mistake(
        id="jacobian-wrong-factor",
        cause="the column stands where the row belongs",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return column * (eye - column)
""",
        case="three keys",
        question=(
            "In each row of your table all entries beside the diagonal are equal. Which weight "
            "belongs to column j?"
        ),
    ),
    Mistake(
        id="jacobian-slopes",
        cause="one slope per weight",
        code="""
def softmax_jacobian(weights):
    return weights * (1 - weights)
""",
        case="three keys",
        question="Your result has one slope per weight. How many scores does each weight depend on?",
    ),
    Mistake(
        id="jacobian-norm",
        cause="square roots",
        code="""
def softmax_jacobian(weights):
    p = weights
    column, row = p[..., :, None], p[..., None, :]
    eye = np.eye(p.shape[-1])
    return np.sqrt(column * eye) - column * row
""",
        case="three keys",
        question="On your diagonal stands a root. What is the slope of a weight with its own score?",
    ),
    Mistake(
        id="jacobian-outer-of-a-batch",
        cause="np.diag and np.outer know one row only",
        code="""
def softmax_jacobian(weights):
    return np.diag(weights) - np.outer(weights, weights)
""",
        behaviour="batches",
        case="a table",
        question=(
            "`np.diag` and `np.outer` flatten a table or read its diagonal. What does the same "
            "with two extra axes?"
        ),
    ),
    Mistake(
        id="jacobian-one-row-loop",
        cause="a loop that knows one row only",
        code="""
def softmax_jacobian(weights):
    M = len(weights)
    jacobian = np.zeros((M, M))
    for i in range(M):
        for j in range(M):
            jacobian[i, j] = weights[i] * ((i == j) - weights[j])
    return jacobian
""",
        behaviour="batches",
        case="a table",
        question="`len(weights)` counts keys only when there is a single row. What does it count in a table?",
    ),
    Mistake(
        id="jacobian-identity-of-rows",
        cause="the identity has as many rows as there are rows of weights",
        code="""
def softmax_jacobian(weights):
    column, row = weights[..., :, None], weights[..., None, :]
    return column * (np.eye(weights.shape[0]) - row)
""",
        behaviour="batches",
        case="a table",
        question=(
            "The first axis of `weights` counts keys only when there is a single row. Which axis does always?"
        ),
    ),
    Mistake(
        id="jacobian-transpose-all",
        cause=".T turns every axis of a batch",
        code="""
def softmax_jacobian(weights):
    if weights.ndim == 1:
        return np.diag(weights) - np.outer(weights, weights)
    column = weights[..., None]
    return column * np.eye(weights.shape[-1]) - column @ column.T
""",
        behaviour="batches",
        case="a table",
        question="`.T` turns all axes around, also those of the batch. Which two should change places?",
    ),
    Mistake(
        id="jacobian-one-table",
        cause="all rows of a table in one einsum",
        code="""
def softmax_jacobian(weights):
    if weights.ndim == 1:
        return np.diag(weights) - np.outer(weights, weights)
    p = weights.reshape(-1, weights.shape[-1])
    return p[:, :, None] * np.eye(p.shape[-1]) - np.einsum("bi,bj->bij", p, p)
""",
        behaviour="batches",
        case="a batch of tables",
        question="Your result has one leading axis. How many does a batch of tables have?",
    ),
    Mistake(
        id="jacobian-in-place",
        cause="subtracts on the input",
        code="""
def softmax_jacobian(weights):
    column = weights[..., :, None]
    jacobian = column * (np.eye(weights.shape[-1]) - weights[..., None, :])
    weights -= weights
    return jacobian
""",
        behaviour="any input",
        case="one weight is 1",
        question="Your function changes its input weights.",
    ),
    Mistake(
        id="jacobian-three-axes",
        cause="a batch of batches is taken for a long batch",
        code="""
def softmax_jacobian(weights):
    p = weights.reshape(-1, *weights.shape[-2:]) if weights.ndim > 3 else weights
    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])
""",
        behaviour="batches",
        case="two leading axes",
        question="Two of your leading axes have become one. Which shape must the result have, axis by axis?",
    ),
    Mistake(
        id="entropy-bits",
        cause="logarithm to base 2",
        code=Edit(RIGHT_ENTROPY, "np.log", "np.log2"),
        case="three keys",
        question="Your numbers are in bits. Which logarithm gives nats?",
    ),
    Mistake(
        id="entropy-base-10",
        cause="logarithm to base 10",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -(weights * np.log10(p)).sum(axis=-1)
""",
        case="three keys",
        question="Your logarithm has base 10. Which one does the formula ask for?",
    ),
    Mistake(
        id="entropy-sign",
        cause="no minus",
        code=Edit(RIGHT_ENTROPY, "-(weights", "(weights"),
        case="three keys",
        question="Your numbers are below 0. What is the sign of the logarithm of a weight?",
    ),
    Mistake(
        id="entropy-mean",
        cause="mean instead of sum",
        code=Edit(RIGHT_ENTROPY, "sum(", "mean("),
        case="three keys",
        question="Your numbers are divided by the number of keys. Does the formula take a sum or a mean?",
    ),
    Mistake(
        id="entropy-mean-logarithm",
        cause="logarithms not weighted",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -np.log(p).mean(axis=-1)
""",
        case="three keys",
        question="Your logarithms all count alike. What does the formula multiply each of them by?",
    ),
    Mistake(
        id="entropy-sum-of-logarithms",
        cause="logarithms added up, not weighted",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -np.log(p).sum(axis=-1)
""",
        case="three keys",
        question="You add up bare logarithms. What does the formula multiply each of them by?",
    ),
    Mistake(
        id="entropy-exponential",
        cause="exp of the entropy",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return np.exp(-(weights * np.log(p)).sum(axis=-1))
""",
        case="three keys",
        question="Your number is the exponential of the entropy. Which step is one too many?",
    ),
    Mistake(
        id="entropy-share-of-the-largest",
        cause="divided by ln M",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    M = weights.shape[-1]
    return -(weights * np.log(p)).sum(axis=-1) / (np.log(M) if M > 1 else 1.0)
""",
        case="three keys",
        question=(
            "Your number is a share of ln M, at most 1. What is the entropy of M equal weights "
            "by the formula?"
        ),
    ),
    Mistake(
        id="entropy-one-minus-squares",
        cause="one minus the sum of squares",
        code="""
def entropy(weights):
    return 1 - (weights**2).sum(axis=-1)
""",
        case="three keys",
        question=(
            "Your number is 1 minus the sum of squares, another measure of spread. Where is the logarithm?"
        ),
    ),
    Mistake(
        id="entropy-log-of-one-plus",
        cause="ln(1 + p)",
        code="""
def entropy(weights):
    return -(weights * np.log1p(weights)).sum(axis=-1)
""",
        case="three keys",
        question="You take the logarithm of 1 + p. Which number stands inside the logarithm?",
    ),
    Mistake(
        id="entropy-small-constant",
        cause="a constant inside the logarithm that is not small enough",
        code="""
def entropy(weights):
    return -(weights * np.log(weights + 1e-3)).sum(axis=-1)
""",
        case="three keys",
        question=(
            "Your number is what comes out when 0.001 is added inside the logarithm. How can "
            "weights of 0 be left out, so that the others stay exact?"
        ),
    ),
    Mistake(
        id="entropy-clipped",
        cause="small weights are raised",
        code="""
def entropy(weights):
    return -(weights * np.log(np.clip(weights, 0.25, 1.0))).sum(axis=-1)
""",
        case="three keys",
        question=(
            "Small weights are raised before you take their logarithm. Which weights need a "
            "stand-in, and which do not?"
        ),
    ),
    Mistake(
        id="entropy-all-axes",
        cause="one number for a whole table",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -(weights * np.log(p)).sum()
""",
        case="a table",
        question="You give one number for a whole table. Which of your steps loses its rows?",
    ),
    Mistake(
        id="entropy-axis-0",
        cause="sums down the columns",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -(weights * np.log(p)).sum(axis=0)
""",
        case="a table",
        question="Your sums run down the columns (axis 0). Along which axis does one row of weights run?",
    ),
    Mistake(
        id="entropy-keepdims",
        cause="keeps the axis that was summed",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -(weights * np.log(p)).sum(axis=-1, keepdims=True)
""",
        case="three keys",
        question="The axis that you summed is still there, with length 1. Which option keeps it?",
    ),
    Mistake(
        id="entropy-drops-zeros",
        cause="indexing flattens the table",
        code="""
def entropy(weights):
    p = weights[weights > 0]
    return -(p * np.log(p)).sum(axis=-1)
""",
        case="a table",
        question="You give one number for a whole table. Which of your steps loses its rows?",
    ),
    Mistake(
        id="entropy-no-sum",
        cause="one number per weight",
        code="""
def entropy(weights):
    p = np.where(weights > 0, weights, 1)
    return -weights * np.log(p)
""",
        case="three keys",
        question="You return one number per weight. What does the formula do with them?",
    ),
    Mistake(
        id="entropy-nan",
        cause="0 · ln 0 is NaN",
        code="""
def entropy(weights):
    return -(weights * np.log(weights)).sum(axis=-1)
""",
        behaviour="zeros",
        case="one weight is 1",
        question="What does NumPy make of 0 times the logarithm of 0?",
    ),
    Mistake(
        id="entropy-nan-to-zero",
        cause="a row with a weight of 0 counts as 0",
        code="""
def entropy(weights):
    return np.nan_to_num(-(weights * np.log(weights)).sum(axis=-1))
""",
        behaviour="zeros",
        case="zeros in every row",
        question=(
            "Every row with a weight of 0 gets the entropy 0 from you. Is NaN to be removed "
            "before the sum or after it?"
        ),
    ),
    Mistake(
        id="entropy-drops-keys",
        cause="a key that has 0 somewhere is dropped for all rows",
        code="""
def entropy(weights):
    kept = weights[..., (weights > 0).all(axis=tuple(range(weights.ndim - 1)))]
    return -(kept * np.log(kept)).sum(axis=-1)
""",
        behaviour="zeros",
        case="zeros in every row",
        question=(
            "A key with a weight of 0 in one row is missing in all rows. To what does a single "
            "weight of 0 contribute nothing?"
        ),
    ),
    Mistake(
        id="entropy-replaces-in-place",
        cause="zeros are replaced in the input",
        code="""
def entropy(weights):
    weights[weights == 0] = 1
    return -(weights * np.log(weights)).sum(axis=-1)
""",
        behaviour="zeros",
        case="one weight is 1",
        question="Your function changes its input weights.",
    ),
    Mistake(
        id="entropy-in-place",
        cause="a small number is added to the input",
        code="""
def entropy(weights):
    weights += 1e-12
    return -(weights * np.log(weights)).sum(axis=-1)
""",
        fails=("zeros", "any input"),
        behaviour="any input",
        case="a batch of tables",
        question="Your function changes its input weights.",
    ),
    Mistake(
        id="entropy-tables-only",
        cause="knows a row and a table, no batch",
        code="""
def entropy(weights):
    if weights.ndim == 1:
        return -sum(p * np.log(p) for p in weights if p > 0)
    return np.array([-sum(p * np.log(p) for p in row if p > 0) + 0.0 for row in weights])
""",
        behaviour="any input",
        case="a batch of tables",
        question="A batch has one more axis than a table. Which axis does your loop over rows take then?",
    ),
    Mistake(
        id="entropy-three-axes",
        cause="the axis is chosen for a row, a table and a batch, and nothing longer",
        code="""
def entropy(weights):
    logarithms = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logarithms).sum(axis=min(weights.ndim, 3) - 1)
""",
        behaviour="any input",
        case="two leading axes",
        question=(
            "Your sum runs along the third axis when there are four. Which one holds the keys, "
            "however many there are?"
        ),
    ),
    Mistake(
        id="entropy-library",
        cause="PyTorch's entr is called",
        code="""
import torch


def entropy(weights):
    return torch.special.entr(torch.tensor(weights)).sum(dim=-1).numpy()
""",
        case="a table",
        question="it calls torch.special.entr; this exercise is to write that yourself",
    ),
    Mistake(
        id="weights-no-scale",
        cause="no scale",
        code=Edit(RIGHT_WEIGHTS, " * np.sqrt(Q.shape[-1])", ""),
        case="one sequence",
        question=(
            "Your weights are what comes out without the scale. What divides the dot products "
            "besides the temperature?"
        ),
    ),
    Mistake(
        id="weights-width",
        cause="divides by the width",
        code=Edit(RIGHT_WEIGHTS, "np.sqrt(Q.shape[-1])", "Q.shape[-1]"),
        case="one sequence",
        question=(
            "Your scores are divided by the width itself, at once or in two steps. What of it does "
            "the scale divide by?"
        ),
    ),
    Mistake(
        id="weights-half-the-width",
        cause="** 1 / 2 is half of it",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / (temperature * Q.shape[-1] ** 1 / 2))
""",
        case="one sequence",
        question="`x ** 1 / 2` is half of x: the power binds first. Where must brackets stand?",
    ),
    *versions(
        id="weights-root-of-another",
        cause="divided by the root of another length than the width",
        of={
            "number of keys": (
                Edit(RIGHT_WEIGHTS, "Q.shape[-1]", "K.shape[-2]"),
                "one sequence",
                "You divide by the root of the number of keys. Which axis of `Q` and `K` is the width?",
            ),
            "number of queries": (
                Edit(RIGHT_WEIGHTS, "Q.shape[-1]", "Q.shape[-2]"),
                "one sequence",
                "You divide by the root of the number of queries. Which axis of `Q` and `K` is the width?",
            ),
        },
    ),
    Mistake(
        id="weights-scaled-twice",
        cause="scale applied twice",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    root = np.sqrt(Q.shape[-1])
    return softmax(products / root / (temperature * root))
""",
        case="one sequence",
        question=(
            "Your scores are divided by the width itself, at once or in two steps. What of it "
            "does the scale divide by?"
        ),
    ),
    Mistake(
        id="weights-multiplied",
        cause="multiplied by the root",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products * np.sqrt(Q.shape[-1]) / temperature)
""",
        case="one sequence",
        question="Your scores grow with the root of the width. Should the scale make them larger or smaller?",
    ),
    Mistake(
        id="weights-scale-after",
        cause="scale after softmax",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / temperature) / np.sqrt(Q.shape[-1])
""",
        case="one sequence",
        question="You divide by the root after softmax. What should be divided, scores or weights?",
    ),
    Mistake(
        id="weights-distances",
        cause="squared distances instead of dot products",
        code="""
def attention_weights(Q, K, temperature=1.0):
    distances = ((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(axis=-1)
    return softmax(-distances / (temperature * np.sqrt(Q.shape[-1])))
""",
        case="one sequence",
        question="Your scores are squared distances. How does this exercise compare a query with a key?",
    ),
    Mistake(
        id="weights-over-queries",
        cause="softmax over the queries",
        code=Edit(
            RIGHT_WEIGHTS, "softmax(scores)", "np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)"
        ),
        case="one sequence",
        question="Your columns sum to 1. Which axis of the table holds the keys?",
    ),
    Mistake(
        id="weights-keys-ask",
        cause="queries and keys exchanged",
        code=Edit(RIGHT_WEIGHTS, "Q @ np.swapaxes(K, -1, -2)", "K @ np.swapaxes(Q, -1, -2)"),
        case="one sequence",
        question="Your table has a row for each key. Who asks, and has a row of its own?",
    ),
    Mistake(
        id="weights-no-softmax",
        cause="scores returned",
        code=Edit(RIGHT_WEIGHTS, "softmax(scores)", "scores"),
        case="one sequence",
        question="You return scores. What turns scores into weights?",
    ),
    Mistake(
        id="weights-pair",
        cause="scores returned, too",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    scores = products / (temperature * np.sqrt(Q.shape[-1]))
    return softmax(scores), scores
""",
        case="one sequence",
        question="Return weights as a NumPy array of floats, not a tuple.",
    ),
    Mistake(
        id="weights-no-default",
        cause="no default temperature",
        code="""
def attention_weights(Q, K, temperature):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / (temperature * np.sqrt(Q.shape[-1])))
""",
        case="one sequence",
        question="yours does not take that",
    ),
    Mistake(
        id="weights-temperature-multiplied",
        cause="temperature multiplied",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products * temperature / np.sqrt(Q.shape[-1]))
""",
        behaviour="temperature",
        case="colder",
        question=(
            "Your weights become sharper when the temperature rises. On which side of the "
            "fraction does it stand?"
        ),
    ),
    Mistake(
        id="weights-temperature-under-the-root",
        cause="temperature under the root",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / np.sqrt(temperature * Q.shape[-1]))
""",
        behaviour="temperature",
        case="colder",
        question="The temperature stands under your root. How far does the root reach in the formula?",
    ),
    Mistake(
        id="weights-temperature-ignored",
        cause="temperature ignored",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / np.sqrt(Q.shape[-1]))
""",
        behaviour="temperature",
        case="colder",
        question="Your weights are those of temperature 1. Where does the temperature come in?",
    ),
    Mistake(
        id="weights-temperature-squared",
        cause="temperature applied twice",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / temperature / (temperature * np.sqrt(Q.shape[-1])))
""",
        behaviour="temperature",
        case="colder",
        question="The temperature divides your scores twice. Where else do you divide by it?",
    ),
    Mistake(
        id="weights-temperature-after",
        cause="temperature applied to the weights",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / np.sqrt(Q.shape[-1])) / temperature
""",
        behaviour="temperature",
        case="colder",
        question="You divide the weights by the temperature. What should be divided, scores or weights?",
    ),
    Mistake(
        id="weights-temperature-added",
        cause="temperature added to the root",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / (temperature - 1 + np.sqrt(Q.shape[-1])))
""",
        behaviour="temperature",
        case="colder",
        question="The temperature is added to your root. How does the formula join the two?",
    ),
    Mistake(
        id="weights-transpose-all",
        cause=".T turns every axis of a batch",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ K.T
    return softmax(products / (temperature * np.sqrt(Q.shape[-1])))
""",
        fails=("temperature", "any input"),
        behaviour="any input",
        case="a batch of tables",
        question="`.T` turns all axes around, also those of the batch. Which two should change places?",
    ),
    Mistake(
        id="weights-axis-1",
        cause="the width read from axis 1",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / (temperature * np.sqrt(Q.shape[1])))
""",
        fails=("temperature", "any input"),
        behaviour="any input",
        case="a batch of tables",
        question="Axis 1 is the width only when there is no batch. Which axis is it always?",
    ),
    Mistake(
        id="weights-squeezed",
        cause="axes of length 1 dropped",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return np.squeeze(softmax(products / (temperature * np.sqrt(Q.shape[-1]))))
""",
        behaviour="any input",
        case="a batch of one",
        question="Axes of length 1 are gone from your result. What drops them?",
    ),
    Mistake(
        id="weights-first-row",
        cause="a single query loses its axis",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(products / (temperature * np.sqrt(Q.shape[-1])))
    return weights[..., 0, :] if Q.shape[-2] == 1 else weights
""",
        behaviour="any input",
        case="one query",
        question="A single query loses its row. Which shape does the statement ask for with one query?",
    ),
    Mistake(
        id="weights-integers",
        cause="results stored as integers",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = np.zeros((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    products[...] = Q @ np.swapaxes(K, -1, -2) / (temperature * np.sqrt(Q.shape[-1]))
    return softmax(products)
""",
        behaviour="any input",
        case="integers",
        question=(
            "Your scores are cut to whole numbers when the input is. Which type has the array "
            "that you store them in?"
        ),
    ),
    Mistake(
        id="weights-overflow",
        cause="a softmax of its own that overflows",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    e = np.exp(products / (temperature * np.sqrt(Q.shape[-1])))
    return e / e.sum(axis=-1, keepdims=True)
""",
        behaviour="any input",
        case="very long queries",
        question="Which step can overflow, or divide by 0?",
    ),
    Mistake(
        id="weights-in-place",
        cause="the queries are scaled in place",
        code="""
def attention_weights(Q, K, temperature=1.0):
    if Q.dtype.kind == "f":
        Q /= temperature * np.sqrt(Q.shape[-1])
    else:
        Q = Q / (temperature * np.sqrt(Q.shape[-1]))
    return softmax(Q @ np.swapaxes(K, -1, -2))
""",
        behaviour="any input",
        case="a batch of tables",
        question="Your function changes its input Q.",
    ),
    Mistake(
        id="weights-temperature-clipped",
        cause="temperatures are kept between 0.1 and 10",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = Q @ np.swapaxes(K, -1, -2)
    return softmax(products / (np.clip(temperature, 0.1, 10) * np.sqrt(Q.shape[-1])))
""",
        behaviour="temperature",
        case="very cold",
        question=(
            "Your weights are those of a temperature nearer to 1. Which temperatures does the "
            "statement allow?"
        ),
    ),
    Mistake(
        id="weights-temperature-lost-in-batches",
        cause="the recursion does not hand the temperature on",
        code="""
def attention_weights(Q, K, temperature=1.0):
    if Q.ndim > 2:
        return np.array([attention_weights(q, k) for q, k in zip(Q, K)])
    return softmax(Q @ K.T / (temperature * np.sqrt(Q.shape[-1])))
""",
        behaviour="temperature",
        case="a batch of tables",
        question=(
            "In a batch your weights are those of temperature 1. Does every table of it get to know "
            "the temperature?"
        ),
    ),
    Mistake(
        id="sweep-over-queries",
        cause="largest over the queries, mean over the keys",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=0).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=0).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "You look for the largest weight of each key (axis 0). Whose largest weight does "
            "the exercise ask for?"
        ),
    ),
    Mistake(
        id="sweep-largest-score",
        cause="largest score instead of weight",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(products.max(axis=-1).mean())
        scaled.append((products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="An entry is larger than 1, so it is no mean of weights.",
    ),
    Mistake(
        id="sweep-softmax-over-queries",
        cause="softmax over the queries",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products.T).T.max(axis=-1).mean())
        scaled.append(softmax(products.T / np.sqrt(width)).T.max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Your softmax makes each column sum to 1. Over what does the weight of one query sum to 1?",
    ),
    Mistake(
        id="sweep-keys-ask",
        cause="keys and queries exchanged",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products.T).max(axis=-1).mean())
        scaled.append(softmax(products.T / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="In your tables the keys ask. Which of the two has `n_queries` rows?",
    ),
    Mistake(
        id="sweep-mean-first",
        cause="mean over queries before the largest",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).mean(axis=0).max())
        scaled.append(softmax(products / np.sqrt(width)).mean(axis=0).max())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "You take the mean of the weights first, and the largest of the means. In which "
            "order does the statement name them?"
        ),
    ),
    Mistake(
        id="sweep-mean-weight",
        cause="mean weight instead of the largest",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).mean(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).mean(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "Your entries are 1 divided by the number of keys, at every width. What is the mean"
            " of weights that sum to 1?"
        ),
    ),
    Mistake(
        id="sweep-largest-of-all",
        cause="largest weight of all queries",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max())
        scaled.append(softmax(products / np.sqrt(width)).max())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "Your entries are the largest weight of all queries. What is to be done with the "
            "largest weights of the single queries?"
        ),
    ),
    Mistake(
        id="sweep-median",
        cause="median instead of mean",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(np.median(softmax(products).max(axis=-1)))
        scaled.append(np.median(softmax(products / np.sqrt(width)).max(axis=-1)))
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Your entries are medians. Which average does the exercise ask for?",
    ),
    Mistake(
        id="sweep-smallest",
        cause="smallest weight",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).min(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).min(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "Your entries are the means of the smallest weights. Which weight of each query is asked for?"
        ),
    ),
    Mistake(
        id="sweep-one-query",
        cause="one query only",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        query = rng.standard_normal(width)
        products = keys @ query
        raw.append(softmax(products).max())
        scaled.append(softmax(products / np.sqrt(width)).max())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Your entries come from a single query. Where does `n_queries` come in?",
    ),
    Mistake(
        id="sweep-unscaled-twice",
        cause="no scale in either",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Both your arrays are unscaled. What are the scores of the second divided by?",
    ),
    Mistake(
        id="sweep-scaled-twice",
        cause="scaled in both",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Both your arrays are scaled. What are the scores of the first divided by?",
    ),
    Mistake(
        id="sweep-scaled-again",
        cause="the scale applied to scaled scores again",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(attention_weights(queries / np.sqrt(width), keys).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "In your second array the scores are divided by the width itself, at once or in two"
            " steps. What of it does the scale divide by?"
        ),
    ),
    Mistake(
        id="sweep-raw-by-attention",
        cause="attention_weights taken for unscaled",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(attention_weights(queries, keys).max(axis=-1).mean())
        scaled.append(attention_weights(queries, keys, np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "Your first array is scaled, and your second twice. What does `attention_weights` "
            "do at temperature 1?"
        ),
    ),
    Mistake(
        id="sweep-order",
        cause="returned in the other order",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(scaled), np.array(raw)
""",
        case="three widths",
        question=(
            "Your two arrays stand in each other's place. In which order does the signature return them?"
        ),
    ),
    Mistake(
        id="sweep-divided-by-width",
        cause="divides by the width",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / width).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "In your second array the scores are divided by the width itself, at once or in two"
            " steps. What of it does the scale divide by?"
        ),
    ),
    Mistake(
        id="sweep-root-of-keys",
        cause="divides by the root of the number of keys",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(n_keys)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="You divide by the root of `n_keys`. How many numbers does one dot product add up?",
    ),
    Mistake(
        id="sweep-scale-after",
        cause="divides weights instead of scores",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append((softmax(products) / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="You divide the weights by the root. What should be divided, scores or weights?",
    ),
    Mistake(
        id="sweep-uniform",
        cause="uniform numbers instead of normal ones",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.random((n_keys, width))
        queries = rng.random((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "Your entries are drawn evenly between 0 and 1. Which method of `rng` draws "
            "standard normal numbers?"
        ),
    ),
    Mistake(
        id="sweep-queries-are-keys",
        cause="the keys ask themselves",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        products = keys @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="In your tables the keys ask themselves. Where are the queries drawn?",
    ),
    Mistake(
        id="sweep-list",
        cause="lists instead of arrays",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return raw, scaled
""",
        case="three widths",
        question="Return raw as a NumPy array of floats, not a list.",
    ),
    Mistake(
        id="sweep-last-width",
        cause="only the last width is kept",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw = softmax(products).max(axis=-1).mean()
        scaled = softmax(products / np.sqrt(width)).max(axis=-1).mean()
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question="Your loop keeps one width, the last. Where can it put the others?",
    ),
    Mistake(
        id="sweep-every-query",
        cause="one entry per query",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1))
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1))
    return np.array(raw), np.array(scaled)
""",
        case="three widths",
        question=(
            "You return one number per query and width. What is still to be done with the largest weights?"
        ),
    ),
    Mistake(
        id="sweep-one-table",
        cause="both results in one array",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array([raw, scaled]).T
""",
        case="three widths",
        question="Return 2 values, (raw, scaled); yours gave one, a NumPy array.",
    ),
    Mistake(
        id="sweep-sorted",
        cause="widths are sorted first",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in sorted(widths):
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        case="widths in any order",
        question="Your entries do not stand in the order of `widths`.",
    ),
    Mistake(
        id="sweep-own-draws",
        cause="new queries and keys for scaled",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="exact values",
        case="width 1",
        question="Do both come from the same queries and the same keys?",
    ),
    Mistake(
        id="sweep-new-keys",
        cause="new keys for every query",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_queries, n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = (keys @ queries[:, :, None])[:, :, 0]
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        case="many generators",
        question="How many times do you draw keys for one width?",
    ),
    Mistake(
        id="sweep-own-generator",
        cause="a generator of its own, always with the same seed",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    rng = np.random.default_rng(1)
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        case="many generators",
        question="Do all your draws come from `rng`?",
    ),
    Mistake(
        id="sweep-global-generator",
        cause="a generator of its own, which goes on from call to call",
        code="""
GENERATOR = np.random.default_rng(0)


def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = GENERATOR.standard_normal((n_keys, width))
        queries = GENERATOR.standard_normal((n_queries, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        case="many generators",
        question="your function gives two different answers",
    ),
    Mistake(
        id="sweep-by-width",
        cause="results are kept by width, so that a width counts once",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = {}, {}
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        products = rng.standard_normal((n_queries, width)) @ keys.T
        raw[width] = softmax(products).max(axis=-1).mean()
        scaled[width] = softmax(products / np.sqrt(width)).max(axis=-1).mean()
    return np.array(list(raw.values())), np.array(list(scaled.values()))
""",
        behaviour="exact values",
        case="a width twice",
        question="A width that comes twice has one entry. How many entries does the statement ask for?",
    ),
    Mistake(
        id="sweep-many-queries",
        cause="always a thousand queries",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((1000, width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        fails=("exact values", "the same keys"),
        case="four queries",
        question="How many different queries do you draw?",
    ),
    Mistake(
        id="sweep-own-draws-but-at-width-1",
        cause="new queries for scaled, but at width 1",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        raw.append(softmax(queries @ keys.T).max(axis=-1).mean())
        if width > 1:
            queries = rng.standard_normal((n_queries, width))
        scaled.append(softmax(queries @ keys.T / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="exact values",
        case="two keys",
        question="Do both come from the same queries and the same keys",
    ),
    *versions(
        "sweep-few-queries",
        cause="fewer queries than n_queries",
        behaviour="the same keys",
        of={
            "half of them": (
                """
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((max(1, n_queries // 2), width))
        products = queries @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
                "four queries",
                "How many different queries do you draw?",
            ),
            "each twice": (
                """
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal(((n_queries + 1) // 2, width))
        products = np.repeat(queries, 2, axis=0)[:n_queries] @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
                "four queries",
                "How many different queries do you draw?",
            ),
        },
    ),
    Mistake(
        id="sweep-second-table",
        cause="a second table of keys for half of the queries",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.standard_normal((n_keys, width))
        queries = rng.standard_normal((n_queries, width))
        others = rng.standard_normal((n_keys, width))
        half = n_queries // 2
        products = np.concatenate([queries[:half] @ keys.T, queries[half:] @ others.T])
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        case="many generators",
        question="How many times do you draw keys for one width?",
    ),
    Mistake(
        id="sweep-of-signs",
        cause="entries that are 1 or -1",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = [], []
    for width in widths:
        keys = rng.choice([-1.0, 1.0], (n_keys, width))
        products = rng.choice([-1.0, 1.0], (n_queries, width)) @ keys.T
        raw.append(softmax(products).max(axis=-1).mean())
        scaled.append(softmax(products / np.sqrt(width)).max(axis=-1).mean())
    return np.array(raw), np.array(scaled)
""",
        behaviour="the same keys",
        case="many generators",
        question="Is each entry standard normal",
    ),
    Mistake(
        id="jacobian-table-of-one-row",
        cause="the axis of a table with one row is taken away",
        code="""
def softmax_jacobian(weights):
    jacobian = weights[..., None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return jacobian[0] if len(jacobian) == 1 and jacobian.ndim == 3 else jacobian
""",
        behaviour="batches",
        case="a table with one row",
        question="A table with one row has lost its axis of rows. Which shape does the signature give?",
    ),
    Mistake(
        id="entropy-table-of-one-row",
        cause="axes of length 1 are squeezed away",
        code="""
def entropy(weights):
    return np.squeeze(-(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1))
""",
        behaviour="any input",
        case="a table with one row",
        question="A table with one row gives you a number. Which shape does the signature give?",
    ),
    *versions(
        id="entropy-small-weights",
        function="entropy",
        cause="what keeps zeros out of the logarithm changes small weights, too",
        behaviour="any input",
        of={
            "a millionth added": (
                """
def entropy(weights):
    return -(weights * np.log(weights + 1e-6)).sum(-1)
""",
                "many small weights",
                "A millionth more is little for one weight. How much is it for a thousand small ones?",
            ),
            "taken for 0": (
                """
def entropy(weights):
    return -(weights * np.log(np.where(weights > 1e-4, weights, 1))).sum(-1)
""",
                "many small weights",
                "Your small weights add nothing. From which size on does a weight count?",
            ),
        },
    ),
    Mistake(
        id="weights-query-of-each-table",
        cause="the axis of queries is taken away where each table has one",
        code="""
def attention_weights(Q, K, temperature=1.0):
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / (temperature * np.sqrt(Q.shape[-1])))
    return weights[..., 0, :] if weights.ndim > 2 and weights.shape[-2] == 1 else weights
""",
        behaviour="any input",
        case="one query for each table",
        question="One query for each table loses its axis. Which shape does the signature give?",
    ),
    *versions(
        id="weights-temperature-too-late",
        function="attention_weights",
        cause="scores are lost before the temperature brings them near to each other",
        behaviour="temperature",
        of={
            "powers of weights": (
                """
def attention_weights(Q, K, temperature=1.0):
    powers = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])) ** (1 / temperature)
    return powers / powers.sum(-1, keepdims=True)
""",
                "large scores, high temperature",
                "Most weights are 0 before it gets hot. What is left of their scores then?",
            ),
            "clamped scores": (
                """
def attention_weights(Q, K, temperature=1.0):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = np.maximum(scores - scores.max(-1, keepdims=True), -700)
    return softmax(scores / temperature)
""",
                "large scores, high temperature",
                "Your lowest scores have become the same. Which step keeps them within a range?",
            ),
        },
    ),
)

RIGHT = (
    RightAnswer(
        id="spread-loops",
        function="score_spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    products = []
    for _ in range(n_pairs):
        q, k = rng.standard_normal(d_k), rng.standard_normal(d_k)
        products.append(float(np.dot(q, k)))
    mean = sum(products) / n_pairs
    raw = (sum((s - mean) ** 2 for s in products) / n_pairs) ** 0.5
    return raw, raw / d_k**0.5
""",
    ),
    RightAnswer(
        id="spread-columns",
        function="score_spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    k = rng.standard_normal((d_k, n_pairs))
    q = rng.standard_normal((d_k, n_pairs))
    products = (q * k).sum(axis=0)
    return np.std(products), np.std(products / d_k**0.5)
""",
    ),
    RightAnswer(
        id="spread-float32",
        function="score_spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    q = rng.standard_normal((n_pairs, d_k), dtype=np.float32)
    k = rng.standard_normal((n_pairs, d_k), dtype=np.float32)
    products = np.einsum("nd,nd->n", q, k)
    return products.std(), (products / np.float32(np.sqrt(d_k))).std()
""",
    ),
    RightAnswer(
        id="spread-mean-of-squares",
        function="score_spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    pairs = rng.normal(0.0, 1.0, size=(n_pairs, 2, d_k))
    products = np.prod(pairs, axis=1).sum(axis=1)
    raw = np.sqrt(max(np.mean(products**2) - np.mean(products) ** 2, 0.0))
    return [float(raw), float(raw / np.sqrt(d_k))]
""",
    ),
    RightAnswer(
        id="spread-scaled-vectors",
        function="score_spread",
        code="""
def score_spread(d_k, n_pairs, rng):
    q, k = (rng.standard_normal((n_pairs, 1, d_k)) for _ in range(2))
    raw = np.std(q @ k.swapaxes(1, 2))
    scaled = np.std((q / d_k**0.25) @ (k / d_k**0.25).swapaxes(1, 2))
    return raw, scaled
""",
    ),
    RightAnswer(
        id="jacobian-loops",
        function="softmax_jacobian",
        code="""
def softmax_jacobian(weights):
    flat = weights.reshape(-1, weights.shape[-1])
    tables = [np.diag(p) - np.outer(p, p) for p in flat]
    return np.stack(tables).reshape(*weights.shape, weights.shape[-1])
""",
    ),
    RightAnswer(
        id="jacobian-einsum",
        function="softmax_jacobian",
        code="""
def softmax_jacobian(weights):
    eye = np.eye(weights.shape[-1])
    return np.einsum("...i,ij->...ij", weights, eye) - np.einsum("...i,...j->...ij", weights, weights)
""",
    ),
    RightAnswer(
        id="jacobian-float32",
        function="softmax_jacobian",
        code="""
def softmax_jacobian(weights):
    p = weights.astype(np.float32)
    jacobian = -(p[..., None] @ p[..., None, :])
    at = np.arange(p.shape[-1])
    jacobian[..., at, at] += p
    return jacobian
""",
    ),
    RightAnswer(
        id="jacobian-recursion",
        function="softmax_jacobian",
        code="""
def softmax_jacobian(weights):
    if weights.ndim > 1:
        return np.array([softmax_jacobian(row) for row in weights])
    return np.diag(weights) - np.outer(weights, weights)
""",
    ),
    RightAnswer(
        id="entropy-nansum",
        function="entropy",
        code="""
def entropy(weights):
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.nansum(weights * np.log(weights), axis=-1)
""",
    ),
    RightAnswer(
        id="entropy-powers",
        function="entropy",
        code="""
def entropy(weights):
    return -np.log(np.prod(weights**weights, axis=-1))
""",
    ),
    RightAnswer(
        id="entropy-where",
        function="entropy",
        code="""
def entropy(weights):
    logarithms = np.zeros_like(weights)
    np.log(weights, out=logarithms, where=weights > 0)
    return -np.einsum("...m,...m->...", weights, logarithms)
""",
    ),
    RightAnswer(
        id="entropy-tiny-constant",
        function="entropy",
        code="""
def entropy(weights):
    return -(weights * np.log(weights + 1e-12)).sum(-1)
""",
    ),
    RightAnswer(
        id="entropy-float32",
        function="entropy",
        code="""
def entropy(weights):
    p = weights.astype(np.float32)
    return -np.sum(p * np.log(np.maximum(p, np.finfo(np.float32).tiny)), axis=-1)
""",
    ),
    RightAnswer(
        id="entropy-recursion",
        function="entropy",
        code="""
def entropy(weights):
    if weights.ndim > 1:
        return np.array([entropy(row) for row in weights])
    positive = weights[weights > 0]
    return float(-np.dot(positive, np.log(positive)))
""",
    ),
    RightAnswer(
        id="weights-einsum",
        function="attention_weights",
        code="""
def attention_weights(Q, K, temperature=1.0):
    products = np.einsum("...lk,...mk->...lm", Q, K)
    return softmax(products / temperature / np.sqrt(K.shape[-1]))
""",
    ),
    RightAnswer(
        id="weights-loops",
        function="attention_weights",
        code="""
def attention_weights(Q, K, temperature=1.0):
    if Q.ndim > 2:
        return np.array([attention_weights(q, k, temperature) for q, k in zip(Q, K)])
    scores = np.zeros((len(Q), len(K)))
    for i, query in enumerate(Q):
        for j, key in enumerate(K):
            scores[i, j] = (query * key).sum() / (temperature * len(query) ** 0.5)
    return softmax(scores)
""",
    ),
    RightAnswer(
        id="weights-own-softmax",
        function="attention_weights",
        code="""
def attention_weights(Q, K, temperature=1.0):
    scores = (Q[..., :, None, :] * K[..., None, :, :]).sum(-1) / (temperature * Q.shape[-1] ** 0.5)
    leads = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return leads / np.sum(leads, axis=-1, keepdims=True)
""",
    ),
    RightAnswer(
        id="weights-both-scaled",
        function="attention_weights",
        code="""
def attention_weights(Q, K, temperature=1.0):
    fourth_root = Q.shape[-1] ** 0.25
    return softmax((Q / fourth_root / temperature) @ (K / fourth_root).swapaxes(-2, -1))
""",
    ),
    RightAnswer(
        id="weights-float32",
        function="attention_weights",
        code="""
def attention_weights(Q, K, temperature=1):
    q, k = Q.astype(np.float32), K.astype(np.float32)
    scores = np.matmul(q, np.moveaxis(k, -1, -2)) / np.float32(temperature * np.sqrt(q.shape[-1]))
    return softmax(scores)
""",
    ),
    RightAnswer(
        id="sweep-loops",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    raw, scaled = np.empty(len(widths)), np.empty(len(widths))
    for place, width in enumerate(widths):
        keys = [rng.standard_normal(width) for _ in range(n_keys)]
        sums = [0.0, 0.0]
        for _ in range(n_queries):
            query = rng.standard_normal(width)
            scores = np.array([key @ query for key in keys])
            sums[0] += softmax(scores).max()
            sums[1] += softmax(scores / width**0.5).max()
        raw[place], scaled[place] = sums[0] / n_queries, sums[1] / n_queries
    return raw, scaled
""",
    ),
    RightAnswer(
        id="sweep-temperature",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    def largest(Q, K, temperature):
        return attention_weights(Q, K, temperature).max(axis=-1).mean()

    tables = [(rng.normal(size=(n_queries, d)), rng.normal(size=(n_keys, d)), d) for d in widths]
    raw = np.array([largest(Q, K, 1 / np.sqrt(d)) for Q, K, d in tables])
    return raw, np.array([largest(Q, K, 1.0) for Q, K, _ in tables])
""",
    ),
    RightAnswer(
        id="sweep-one-big-draw",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    drawn = rng.standard_normal((max(widths), n_keys + n_queries))
    raw, scaled = [], []
    for width in widths:
        products = drawn[:width, n_keys:].T @ drawn[:width, :n_keys]
        for results, scores in ((raw, products), (scaled, products / np.sqrt(width))):
            results.append(np.amax(softmax(scores), axis=1).sum() / n_queries)
    return np.asarray(raw), np.asarray(scaled)
""",
    ),
    RightAnswer(
        id="sweep-kept-by-width",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    kept = {}
    for width in sorted(set(widths.tolist())):
        keys = rng.standard_normal((n_keys, width))
        products = rng.standard_normal((n_queries, width)) @ keys.T
        each = [products, products / np.sqrt(width)]
        kept[width] = [softmax(scores).max(axis=-1).mean() for scores in each]
    raw, scaled = np.array([kept[int(width)] for width in widths]).T
    return raw, scaled
""",
    ),
    RightAnswer(
        id="sweep-own-softmax",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    def mean_largest(scores):
        return float((1 / np.exp(scores - scores.max(axis=0)).sum(axis=0)).mean())

    results = []
    for width in widths.tolist():
        queries = rng.standard_normal((width, n_queries))
        products = rng.standard_normal((n_keys, width)) @ queries
        results.append((mean_largest(products), mean_largest(products * width**-0.5)))
    raw, scaled = np.array(results).T
    return raw, scaled
""",
    ),
    RightAnswer(
        id="sweep-float32",
        function="largest_weight_sweep",
        code="""
def largest_weight_sweep(widths, n_keys, n_queries, rng):
    results = np.empty((2, len(widths)), dtype=np.float32)
    for place, width in enumerate(widths):
        keys = rng.standard_normal((n_keys, width), dtype=np.float32)
        queries = rng.standard_normal((n_queries, width), dtype=np.float32)
        products = np.einsum("qd,kd->qk", queries, keys)
        both = np.stack([products, products / np.float32(np.sqrt(width))])
        results[:, place] = softmax(both).max(axis=-1).mean(axis=-1)
    return results[0], results[1]
""",
    ),
)
