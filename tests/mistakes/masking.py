"""Assignment 04: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, changed, versions

RIGHT_CAUSAL = """
def causal_mask(length):
    positions = torch.arange(length)
    allowed = positions[None, :] <= positions[:, None]
    return allowed
"""
RIGHT_PADDING = """
def padding_mask(lengths, max_length):
    real = torch.arange(max_length) < torch.as_tensor(lengths)[:, None]
    return real
"""
RIGHT_SOFTMAX = """
def masked_softmax(scores, mask):
    lowered = scores.masked_fill(~mask, -1e30)
    weights = lowered.softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
"""
RIGHT_ATTENTION = """
def masked_attention(Q, K, V, mask=None):
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    scores = Q @ K.mT / math.sqrt(K.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ V, weights
"""
RIGHT_SEES_FUTURE = """
def sees_future(layer, X):
    training = isinstance(layer, nn.Module) and layer.training
    if training:
        layer.eval()
    before = layer(X)
    leaks = False
    for j in range(1, X.shape[1]):
        other = X.clone()
        other[:, j] = torch.randn(X.shape[0], X.shape[2])
        leaks |= bool((layer(other) - before)[:, :j].abs().max() > 1e-4)
    if training:
        layer.train()
    return leaks
"""
# What a leak may be missed by: the answer of such a test is False, so that nothing tells which it was.
FAINT = (
    "Here one column moves up a little and another one down as much. What do you change, what does your "
    "comparison look at, and from which size on?"
)
SQUARES = (
    "Here outputs become smaller only, and signs or the order of entries do not count. What do you change, "
    "and which differences do you look at?"
)

MISTAKES = (
    Mistake(
        id="causal-upper-triangle",
        cause="the upper triangle is kept",
        code="""
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()
""",
        case="five tokens",
        question="In your mask the first query sees everything. In which direction is a text written?",
    ),
    Mistake(
        id="causal-true-means-hidden",
        cause="True stands for hidden",
        code=Edit(RIGHT_CAUSAL, "return allowed", "return ~allowed"),
        case="five tokens",
        question=(
            "In your mask True stands where a key lies in the future. What does True mean in this course?"
        ),
    ),
    Mistake(
        id="causal-no-diagonal",
        cause="the diagonal is excluded",
        code=Edit(RIGHT_CAUSAL, "<=", "<"),
        case="five tokens",
        question="In your mask the first query sees nothing at all. May a query see its own token?",
    ),
    Mistake(
        id="causal-one-too-far",
        cause="the mask reaches one token too far",
        code="""
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(1)
""",
        case="five tokens",
        question="In your mask each query sees the token that it has to predict. Where does its row end?",
    ),
    Mistake(
        id="causal-from-the-end",
        cause="the table is turned left to right",
        code="""
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril().flip(-1)
""",
        case="five tokens",
        question="In your mask the first query sees the last token only. On which side do keys begin?",
    ),
    Mistake(
        id="causal-floats",
        cause="ones and zeros are floats",
        code="""
def causal_mask(length):
    return torch.tril(torch.ones(length, length))
""",
        case="five tokens",
        question="mask must hold booleans; yours holds floats",
    ),
    Mistake(
        id="causal-nested-list",
        cause="a list of lists is returned",
        code="""
def causal_mask(length):
    return [[j <= i for j in range(length)] for i in range(length)]
""",
        case="five tokens",
        question="Return mask as a PyTorch tensor of booleans, not a list",
    ),
    Mistake(
        id="causal-axis-in-front",
        cause="an axis for the batch is added",
        code="""
def causal_mask(length):
    return torch.ones(1, length, length, dtype=torch.bool).tril()
""",
        case="five tokens",
        question="One axis of your mask counts neither queries nor keys. Does a mask for all texts need it?",
    ),
    Mistake(
        id="causal-course-library",
        cause="the course's own mask is called",
        code="""
import course_lib.torch_attention


def causal_mask(length):
    return course_lib.torch_attention.causal_mask(length)
""",
        case="five tokens",
        question="it calls course_lib.torch_attention.causal_mask; this exercise is to write that yourself",
    ),
    Mistake(
        id="padding-true-means-padding",
        cause="True stands for padding",
        code=Edit(RIGHT_PADDING, "return real", "return ~real"),
        case="three texts",
        question="In your mask True stands where nothing is written. What does True mean in this course?",
    ),
    Mistake(
        id="padding-one-too-far",
        cause="places are counted from 1",
        code=Edit(RIGHT_PADDING, "<", "<="),
        case="three texts",
        question="Each of your texts has a token too many. From which number do places count?",
    ),
    Mistake(
        id="padding-one-too-few",
        cause="the last token is taken off",
        code="""
def padding_mask(lengths, max_length):
    return torch.arange(max_length) < torch.as_tensor(lengths)[:, None] - 1
""",
        case="three texts",
        question="Each of your texts lacks its last token. At which place does a text of one token have it?",
    ),
    Mistake(
        id="padding-on-the-left",
        cause="texts stand at the right end",
        code="""
def padding_mask(lengths, max_length):
    return torch.arange(max_length) >= max_length - torch.as_tensor(lengths)[:, None]
""",
        case="three texts",
        question="Your texts end in the same column. On which side does the statement fill up?",
    ),
    Mistake(
        id="padding-turned",
        cause="places are rows and texts are columns",
        code="""
def padding_mask(lengths, max_length):
    return torch.arange(max_length)[:, None] < torch.as_tensor(lengths)
""",
        case="three texts",
        question=(
            "Your table has a row for each place. Which of the two needs the new axis: places or lengths?"
        ),
    ),
    Mistake(
        id="padding-longest-text",
        cause="the table is as wide as the longest text",
        code="""
def padding_mask(lengths, max_length):
    lengths = torch.as_tensor(lengths)
    return torch.arange(int(lengths.max())) < lengths[:, None]
""",
        case="room to spare",
        question="Your table is as wide as the longest text. How many places does the batch have?",
    ),
    Mistake(
        id="padding-ones-and-zeros",
        cause="ones and zeros are integers",
        code="""
def padding_mask(lengths, max_length):
    return torch.tensor([[1] * int(n) + [0] * (max_length - int(n)) for n in lengths])
""",
        case="three texts",
        question="mask must hold booleans; yours holds integers",
    ),
    Mistake(
        id="padding-pairs",
        cause="a table of queries and keys is made for each text",
        code="""
def padding_mask(lengths, max_length):
    real = torch.arange(max_length) < torch.as_tensor(lengths)[:, None]
    return real[:, :, None] & real[:, None, :]
""",
        case="three texts",
        question="Your mask has an axis for queries, too. Which two axes does the signature name?",
    ),
    Mistake(
        id="padding-tensor-only",
        cause="a list has no axes to add",
        code="""
def padding_mask(lengths, max_length):
    return torch.arange(max_length) < lengths[:, None]
""",
        case="three texts",
        question="A list cannot be indexed like that. What must become of it first?",
    ),
    Mistake(
        id="padding-length-0-as-index",
        cause="the place before an empty text's first is the last one",
        code="""
def padding_mask(lengths, max_length):
    last = torch.zeros(len(lengths), max_length, dtype=torch.bool)
    for b, length in enumerate(lengths):
        last[b, length - 1] = True
    return last.flip(-1).cumsum(-1).flip(-1) > 0
""",
        behaviour="any input",
        case="an empty text",
        question="Your empty texts are full. Which place does the index −1 stand for?",
    ),
    Mistake(
        id="padding-in-place",
        cause="the lengths are counted down in place",
        code="""
def padding_mask(lengths, max_length):
    lengths = torch.as_tensor(lengths)
    columns = []
    for _ in range(max_length):
        columns.append(lengths > 0)
        lengths -= 1
    return torch.stack(columns, dim=1)
""",
        behaviour="any input",
        case="a tensor",
        question="Your function changes its input lengths",
    ),
    Mistake(
        id="softmax-mask-inverted",
        cause="allowed scores are hidden, and hidden ones are not",
        code="""
def masked_softmax(scores, mask):
    weights = scores.masked_fill(mask, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)
""",
        case="chapter 4",
        question=(
            "All of your weight lies on hidden keys. What does True mean in the mask, and what in "
            "masked_fill?"
        ),
    ),
    Mistake(
        id="softmax-no-mask",
        cause="the mask is not used",
        code="""
def masked_softmax(scores, mask):
    return scores.softmax(dim=-1)
""",
        case="chapter 4",
        question="Your weights are those without any mask. Is there a line whose result is lost?",
    ),
    Mistake(
        id="softmax-result-of-masked-fill-lost",
        cause="masked_fill returns a new tensor, which is dropped",
        code="""
def masked_softmax(scores, mask):
    scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1)
""",
        case="chapter 4",
        question="Your weights are those without any mask. Is there a line whose result is lost?",
    ),
    Mistake(
        id="softmax-zero-for-hidden",
        cause="hidden scores become 0 instead of minus infinity",
        code=Edit(RIGHT_SOFTMAX, "scores.masked_fill(~mask, -1e30)", "scores * mask"),
        case="a table",
        question="Your hidden keys have a score of 0. How much does exp(0) add to the sum?",
    ),
    Mistake(
        id="softmax-not-renormalised",
        cause="weights are set to zero after softmax, and the rest is not renormalised",
        code="""
def masked_softmax(scores, mask):
    return scores.softmax(dim=-1) * mask
""",
        case="chapter 4",
        question="Your hidden weights are taken away after softmax. Who gets the share that becomes free?",
    ),
    Mistake(
        id="softmax-mask-added",
        cause="the mask is added as ones and zeros",
        code=Edit(RIGHT_SOFTMAX, "scores.masked_fill(~mask, -1e30)", "scores + mask"),
        case="a table",
        question=(
            "Your mask is added to the scores, as 1 for allowed and 0 for hidden. Does adding 0 hide a key?"
        ),
    ),
    Mistake(
        id="softmax-minus-ten",
        cause="10 is taken off hidden scores",
        code=Edit(RIGHT_SOFTMAX, "scores.masked_fill(~mask, -1e30)", "scores - 10.0 * ~mask"),
        case="a table",
        question=(
            "A score that is 10 lower keeps a share. By how much must it be lower to have none, "
            "whatever it was?"
        ),
    ),
    Mistake(
        id="softmax-over-queries",
        cause="softmax runs down the columns",
        code=Edit(RIGHT_SOFTMAX, "softmax(dim=-1)", "softmax(dim=-2).masked_fill(~mask, 0.0)"),
        case="a table",
        question="Your columns sum to 1, not your rows. Which axis counts the keys?",
    ),
    Mistake(
        id="softmax-over-whole-table",
        cause="all rows share one sum, as indexing with a mask makes one long row",
        code="""
def masked_softmax(scores, mask):
    weights = torch.zeros_like(scores)
    mask = mask.expand(scores.shape)
    weights[mask] = scores[mask].softmax(dim=0)
    return weights
""",
        case="a table",
        question="All of your rows share one sum of 1. What shape has `scores[mask]`?",
    ),
    Mistake(
        id="softmax-mask-transposed",
        cause="rows and columns of the mask are exchanged",
        code="""
def masked_softmax(scores, mask):
    mask = mask.mT if mask.mT.shape == scores.shape else mask
    weights = scores.masked_fill(~mask, -1e30).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
""",
        case="as many queries as keys",
        question="Rows and columns of your mask are exchanged. Which of its axes counts the queries?",
    ),
    Mistake(
        id="softmax-empty-as-soon-as-one-is-hidden",
        cause="rows with one hidden key are taken for empty: all instead of any",
        code="""
def masked_softmax(scores, mask):
    empty = ~mask.all(dim=-1, keepdim=True)
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).masked_fill(empty, 0.0)
""",
        case="chapter 4",
        question=(
            "Rows with some hidden keys come out as zero. When is a row empty: if all are hidden, or any?"
        ),
    ),
    Mistake(
        id="softmax-minus-10000",
        cause="hidden scores become -10,000, which is no less than other scores",
        code="""
def masked_softmax(scores, mask):
    weights = scores.masked_fill(~mask, -1e4).softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
""",
        behaviour="any input",
        case="very negative",
        question=(
            "A score of −10,000 hides nothing among others of that size. Which number is below all of them?"
        ),
    ),
    Mistake(
        id="softmax-million-less",
        cause="a million is taken off hidden scores, which may be as large",
        code="""
def masked_softmax(scores, mask):
    weights = (scores - 1e6 * ~mask).softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
""",
        behaviour="any input",
        case="a million behind the mask",
        question=(
            "A hidden score of a million, less a million, is there again. Take something off, or put "
            "something in its place?"
        ),
    ),
    Mistake(
        id="softmax-divided-afterwards",
        cause="softmax of everything first, then zeros and a division: the allowed weights may underflow",
        code="""
def masked_softmax(scores, mask):
    weights = scores.softmax(dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)
""",
        behaviour="any input",
        case="a million behind the mask",
        question=(
            "When a hidden score is a million, nothing is left of the allowed weights. Must hidden keys "
            "take part in softmax first?"
        ),
    ),
    Mistake(
        id="softmax-maximum-with-hidden",
        cause="the maximum that is taken off may be a hidden score",
        code="""
def masked_softmax(scores, mask):
    exponentials = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask
    sums = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(sums == 0, 1.0, sums)
""",
        behaviour="any input",
        case="a million behind the mask",
        question=(
            "When a hidden score is a million, nothing is left of the allowed weights. Must hidden keys "
            "take part in softmax first?"
        ),
    ),
    Mistake(
        id="softmax-no-maximum",
        cause="exp of large scores overflows",
        code="""
def masked_softmax(scores, mask):
    exponentials = scores.masked_fill(~mask, -torch.inf).exp()
    sums = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(sums == 0, 1.0, sums)
""",
        behaviour="any input",
        case="very large",
        question=(
            "`exp` of 10,000 is infinite. What may be taken off all scores of a row without changing its "
            "weights?"
        ),
    ),
    Mistake(
        id="softmax-mask-for-queries",
        cause="a padding mask is turned, so that it speaks about queries",
        code="""
def masked_softmax(scores, mask):
    if mask.ndim > 2 and mask.shape[-2] == 1 and mask.shape[-1] == scores.shape[-2]:
        mask = mask.mT
    empty = ~mask.any(dim=-1, keepdim=True)
    kept = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return kept.softmax(dim=-1).masked_fill(~mask, 0.0)
""",
        behaviour="any input",
        case="padding, all sizes equal",
        question="A mask (B, 1, M) empties rows of yours. Does padding belong to the queries or to the keys?",
    ),
    Mistake(
        id="softmax-mask-axes-in-front",
        cause="missing axes of the mask are added at the end, not in front",
        code="""
def masked_softmax(scores, mask):
    while mask.ndim < scores.ndim:
        mask = mask.unsqueeze(-1)
    empty = ~mask.any(dim=-1, keepdim=True)
    kept = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return kept.softmax(dim=-1).masked_fill(~mask, 0.0)
""",
        behaviour="any input",
        case="one mask for a batch",
        question=(
            "A mask with fewer axes than the scores does not fit. On which side does broadcasting add axes?"
        ),
    ),
    Mistake(
        id="softmax-boolean-index",
        cause="indexing with a mask does not broadcast",
        code="""
def masked_softmax(scores, mask):
    kept = torch.full_like(scores, -torch.inf)
    kept[mask] = scores[mask]
    weights = kept.softmax(dim=-1)
    return torch.where(mask.any(dim=-1, keepdim=True), weights, 0.0)
""",
        behaviour="any input",
        case="padding",
        question=(
            "Indexing with a mask wants one of the same shape. Which method gives the mask the shape of "
            "the scores?"
        ),
    ),
    Mistake(
        id="softmax-in-place",
        cause="the scores are masked in place",
        code="""
def masked_softmax(scores, mask):
    scores.masked_fill_(~mask, -torch.inf)
    empty = ~mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(dim=-1).masked_fill(~mask, 0.0)
""",
        behaviour="any input",
        fails=("any input", "empty rows"),
        case="padding",
        question="Your function changes its input scores",
    ),
    Mistake(
        id="softmax-squeezed",
        cause="axes of length 1 are dropped",
        code="""
def masked_softmax(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    kept = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    weights = kept.softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights.squeeze() if len(scores) > 1 else weights
""",
        behaviour="any input",
        case="one key",
        question="An axis of length 1 is gone. Which call drops such axes, and must this one stay?",
    ),
    Mistake(
        id="softmax-nan-on-empty-rows",
        cause="softmax of a row of minus infinities is NaN",
        code="""
def masked_softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "In an empty row your softmax divides 0 by 0. What should stand in such a row before softmax?"
        ),
    ),
    Mistake(
        id="softmax-uniform-empty-rows",
        cause="a large negative number gives an empty row equal weights",
        code="""
def masked_softmax(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-1)
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "An empty row of yours gives all keys the same weight. What is softmax of equal numbers, "
            "however low?"
        ),
    ),
    Mistake(
        id="softmax-empty-row-as-if-allowed",
        cause="where nothing is allowed everything is",
        code="""
def masked_softmax(scores, mask):
    mask = mask | ~mask.any(dim=-1, keepdim=True)
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
""",
        behaviour="empty rows",
        case="an empty row",
        question="Your empty row sees everything. That avoids NaN, but which weights did the mask ask for?",
    ),
    Mistake(
        id="softmax-nan-gradient",
        cause="NaN is replaced after softmax, and comes back with the gradient",
        code="""
def masked_softmax(scores, mask):
    bias = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    shifted = scores + bias
    exponentials = (shifted - shifted.amax(dim=-1, keepdim=True)).exp()
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights.nan_to_num(0.0)
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "Your weights are right, and NaN comes back on the way of the gradient. Is a NaN computed "
            "first, and replaced later?"
        ),
    ),
    Mistake(
        id="softmax-detached",
        cause="the weights leave PyTorch, and no gradient can flow",
        code="""
import numpy as np


def masked_softmax(scores, mask):
    table = np.where(mask.numpy(), scores.detach().numpy(), -np.inf)
    top = table.max(axis=-1, keepdims=True)
    exponentials = np.exp(table - np.where(np.isfinite(top), top, 0.0))
    sums = exponentials.sum(axis=-1, keepdims=True)
    return torch.from_numpy(exponentials / np.where(sums == 0, 1.0, sums))
""",
        behaviour="empty rows",
        case="an empty row",
        question="No gradient flows from the result back to the inputs",
    ),
    Mistake(
        id="softmax-course-library",
        function="masked_softmax",
        cause="the course's own function is called",
        code="""
from course_lib.torch_attention import masked_softmax
""",
        case="chapter 4",
        question=(
            "it calls course_lib.torch_attention.masked_softmax; this exercise is to write that yourself"
        ),
    ),
    Mistake(
        id="softmax-no-mask-when-nothing-is-allowed",
        cause="a mask that allows nothing is taken for no mask",
        code="""
def masked_softmax(scores, mask):
    if not mask.any():
        return scores.softmax(dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)
    harmless = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return harmless.softmax(dim=-1).masked_fill(~mask, 0.0)
""",
        behaviour="empty rows",
        case="nothing allowed at all",
        question="The weight of a hidden key must be 0",
    ),
    Mistake(
        id="attention-not-scaled",
        cause="the scores are not scaled",
        code=Edit(RIGHT_ATTENTION, " / math.sqrt(K.shape[-1])", ""),
        case="a mask",
        question=(
            "Your scores go into softmax as they are. What does the formula of chapter 2 do to them first?"
        ),
    ),
    Mistake(
        id="attention-root-of-value-width",
        cause="divided by the root of the values' width",
        code=Edit(RIGHT_ATTENTION, "K.shape[-1]", "V.shape[-1]"),
        case="a mask",
        question="Your scores are divided by the root of the values' width. Do values take part in a score?",
    ),
    Mistake(
        id="attention-scaled-after-mask",
        cause="the weights are scaled",
        code="""
def masked_attention(Q, K, V, mask=None):
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    weights = masked_softmax(Q @ K.mT, mask) / math.sqrt(K.shape[-1])
    return weights @ V, weights
""",
        case="no mask",
        question="Your weights are divided by the root of the width. Is it weights that the formula divides?",
    ),
    Mistake(
        id="attention-mask-needed",
        cause="the mask has no default",
        code="""
def masked_attention(Q, K, V, mask):
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        case="no mask",
        question="missing a required argument: 'mask'",
    ),
    Mistake(
        id="attention-none-is-not-checked",
        cause="None is passed on as a mask",
        code="""
def masked_attention(Q, K, V, mask=None):
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        case="no mask",
        question=(
            "Without a mask yours hands None on. Which mask allows every pair, or which function needs none?"
        ),
    ),
    Mistake(
        id="attention-square-mask-by-default",
        cause="the mask of all True has as many columns as queries",
        code="""
def masked_attention(Q, K, V, mask=None):
    if mask is None:
        mask = torch.ones(Q.shape[-2], Q.shape[-2], dtype=torch.bool)
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        case="no mask",
        question=(
            "Your mask for “no mask” has as many columns as there are queries. What do its columns count?"
        ),
    ),
    Mistake(
        id="attention-always-causal",
        cause="a causal mask is added to every mask",
        code="""
def masked_attention(Q, K, V, mask=None):
    causal = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril()
    mask = causal if mask is None else mask & causal
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        case="no mask",
        question="Without a mask your queries still do not see later keys. Who decides here what is hidden?",
    ),
    Mistake(
        id="attention-or-for-and",
        cause="the mask and a causal one are joined by or",
        code="""
def masked_attention(Q, K, V, mask=None):
    causal = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril()
    mask = torch.ones_like(causal) if mask is None else mask | causal
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        case="a mask",
        question=(
            "Your queries see more than the mask allows. Which word joins two masks that must both hold?"
        ),
    ),
    Mistake(
        id="attention-mask-on-scores-as-product",
        cause="scores are multiplied by the mask",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
""",
        case="a mask",
        question="Your hidden keys have a score of 0. How much does exp(0) add to the sum?",
    ),
    Mistake(
        id="attention-values-set-to-zero",
        cause="hidden values are set to zero, and their weights stay",
        code="""
def masked_attention(Q, K, V, mask=None):
    weights = (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1)
    if mask is None:
        return weights @ V, weights
    return (weights * mask) @ V, weights
""",
        case="a mask",
        question=(
            "Your output leaves hidden values out, and your weights are those without a mask. Who hides "
            "first: softmax or the mask?"
        ),
    ),
    Mistake(
        id="attention-mask-for-weights-only",
        cause="the output is computed before the mask",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights = scores.softmax(dim=-1)
    output = weights @ V
    if mask is not None:
        weights = masked_softmax(scores, mask)
    return output, weights
""",
        case="a mask",
        question="Your weights are right, and your output is made with others. Which weights does it use?",
    ),
    Mistake(
        id="attention-inverted",
        cause="True is taken for hidden",
        code=Edit(RIGHT_ATTENTION, "else mask", "else ~mask"),
        case="a mask",
        question="Your queries see just what the mask hides. What does True mean in this course?",
    ),
    Mistake(
        id="attention-weights-first",
        cause="weights are returned before the output",
        code=Edit(RIGHT_ATTENTION, "weights @ V, weights", "weights, weights @ V"),
        case="a mask",
        question=(
            "Your weights stand where the output belongs. In which order does the signature return the two?"
        ),
    ),
    Mistake(
        id="attention-transpose-of-a-batch",
        cause="K.T reverses all axes of a batch",
        code="""
def masked_attention(Q, K, V, mask=None):
    turned = K.permute(*range(K.ndim - 1, -1, -1))
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    weights = masked_softmax(Q @ turned / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        behaviour="any input",
        case="a mask for each table",
        question=(
            "All axes of `K` are reversed, also the one that counts tables. Which two should change places?"
        ),
    ),
    Mistake(
        id="attention-no-axis-for-a-batch",
        cause="a mask (B, 1, M) loses its axis for queries",
        code="""
def masked_attention(Q, K, V, mask=None):
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    mask = mask.squeeze(-2) if mask.ndim > 2 else mask
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        behaviour="any input",
        case="padding",
        question=(
            "The axis of length 1 stood for the queries, and yours drops it. To which axis does B come to"
            " belong then?"
        ),
    ),
    Mistake(
        id="attention-padding-hides-queries",
        cause="queries at padded places are emptied, too",
        code="""
def masked_attention(Q, K, V, mask=None):
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    if mask.ndim > 2 and mask.shape[-2] == 1 and Q.shape[-2] == K.shape[-2]:
        mask = mask & mask.mT
    weights = masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights
""",
        behaviour="any input",
        case="padding, all sizes equal",
        question=(
            "Rows of yours are empty for which the mask allows keys. Does a mask (B, 1, M) speak about "
            "queries?"
        ),
    ),
    Mistake(
        id="attention-queries-in-place",
        cause="the queries are scaled in place",
        code="""
def masked_attention(Q, K, V, mask=None):
    Q /= math.sqrt(Q.shape[-1])
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    weights = masked_softmax(Q @ K.mT, mask)
    return weights @ V, weights
""",
        fails=("any input", "empty rows"),
        behaviour="any input",
        case="padding",
        question="Your function changes its input Q",
    ),
    Mistake(
        id="attention-uniform-empty-rows",
        cause="its own softmax gives an empty row equal weights",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = torch.where(mask, scores, -1e9)
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "An empty row of yours gives all keys the same weight. What is softmax of equal numbers, "
            "however low?"
        ),
    ),
    Mistake(
        id="attention-nan-on-empty-rows",
        cause="its own softmax has nothing to divide by in an empty row",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "In an empty row your softmax divides 0 by 0. Does your `masked_softmax` know what to do there?"
        ),
    ),
    Mistake(
        id="attention-nan-gradient",
        cause="NaN is replaced in the weights, and comes back with the gradient",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return weights @ V, weights
""",
        behaviour="empty rows",
        case="an empty row",
        question=(
            "Output and weights are right, and NaN comes back on the way of the gradient. Is a NaN "
            "computed first, and replaced later?"
        ),
    ),
    Mistake(
        id="attention-no-mask-when-nothing-is-allowed",
        cause="a mask that allows nothing is taken for no mask",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is None or not mask.any():
        weights = scores.softmax(dim=-1)
    else:
        weights = masked_softmax(scores, mask)
    return weights @ V, weights
""",
        behaviour="empty rows",
        case="nothing allowed at all",
        question="The weight of a hidden key must be 0",
    ),
    Mistake(
        id="attention-torch-library",
        cause="PyTorch's attention is called",
        code="""
def masked_attention(Q, K, V, mask=None):
    output = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
    return output, masked_softmax(Q @ K.mT / math.sqrt(Q.shape[-1]), mask)
""",
        case="no mask",
        question=(
            "it calls torch.nn.functional.scaled_dot_product_attention; this exercise is to write that "
            "yourself"
        ),
    ),
    Mistake(
        id="future-compares-shapes",
        cause="shapes are compared, not values",
        code="""
def sees_future(layer, X):
    changed = X.clone()
    changed[:, -1] = 0.0
    return layer(changed).shape != layer(X).shape
""",
        case="attention without a mask",
        question=(
            "Here every row sees every row, and yours says no. Which change do you make, and what of the "
            "two outputs do you compare?"
        ),
    ),
    Mistake(
        id="future-tiny-change",
        cause="the change is lost in rounding",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] += 1e-9
        if not torch.allclose(layer(changed)[:, :j], before[:, :j]):
            return True
    return False
""",
        case="attention without a mask",
        question=(
            "Here every row sees every row, and yours says no. Which change do you make, and what of the "
            "two outputs do you compare?"
        ),
    ),
    Mistake(
        id="future-shuffled",
        cause="later rows only change places, which attention does not notice",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = torch.cat([X[:, :j], X[:, j:].flip(1)], dim=1)
        if not torch.allclose(layer(changed)[:, :j], before[:, :j], atol=1e-5):
            return True
    return False
""",
        case="attention without a mask",
        question=(
            "Here every row sees every row, and yours says no. Which change do you make, and what of the "
            "two outputs do you compare?"
        ),
    ),
    Mistake(
        id="future-own-row-counts",
        cause="the changed row itself is compared, too",
        code="""
def sees_future(layer, X):
    changed = X.clone()
    changed[:, -1] = torch.randn(X.shape[-1])
    return not torch.allclose(layer(changed), layer(X), atol=1e-5)
""",
        case="each row by itself",
        question=(
            "Here each row depends on itself alone, and yours says yes. Which rows do you change, and "
            "which do you compare?"
        ),
    ),
    Mistake(
        id="future-all-rows-changed",
        cause="the comparison is with a wholly different input",
        code="""
def sees_future(layer, X):
    return bool((layer(torch.randn(X.shape)) - layer(X))[:, :-1].abs().max() > 1e-4)
""",
        case="each row by itself",
        question=(
            "Here each row depends on itself alone, and yours says yes. Which rows do you change, and "
            "which do you compare?"
        ),
    ),
    Mistake(
        id="future-first-row-changed",
        cause="the first row is changed, and later ones are watched: that is the past",
        code="""
def sees_future(layer, X):
    changed = X.clone()
    changed[:, 0] = torch.randn(X.shape[-1])
    return not torch.allclose(layer(changed)[:, 1:], layer(X)[:, 1:], atol=1e-5)
""",
        case="running sum",
        question=(
            "Here later rows depend on earlier ones. Is that the future? Which of the two do you change, "
            "and which do you watch?"
        ),
    ),
    Mistake(
        id="future-nan",
        cause="NaN is written into later rows, and 0 times NaN is NaN",
        code="""
def sees_future(layer, X):
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.nan
        if layer(changed)[:, :j].isnan().any():
            return True
    return False
""",
        case="causal attention",
        question="Here the weights of later rows are 0, and yours says yes. Which number, times 0, is not 0?",
    ),
    Mistake(
        id="future-last-row-only",
        cause="only the last row is ever changed",
        code="""
def sees_future(layer, X):
    changed = X.clone()
    changed[:, -1] = torch.randn(X.shape[0], X.shape[-1])
    return not torch.allclose(layer(changed)[:, :-1], layer(X)[:, :-1], atol=1e-5)
""",
        case="one wrong place in the mask",
        question=(
            "Only one row sees a later one here; they are neither the first nor the last. Which rows do "
            "you change, and which do you watch?"
        ),
    ),
    Mistake(
        id="future-first-row-watched",
        cause="only the first row of the output is watched",
        code="""
def sees_future(layer, X):
    changed = X.clone()
    changed[:, 1:] = torch.randn(X[:, 1:].shape)
    return not torch.allclose(layer(changed)[:, 0], layer(X)[:, 0], atol=1e-5)
""",
        case="one wrong place in the mask",
        question=(
            "Only one row sees a later one here; they are neither the first nor the last. Which rows do "
            "you change, and which do you watch?"
        ),
    ),
    Mistake(
        id="future-last-row-left-out",
        cause="the loop over the rows that change ends before the last one",
        code="""
def sees_future(layer, X):
    training = getattr(layer, "training", None)
    if training is not None:
        layer.eval()
    before, leaks = layer(X), False
    for j in range(1, X.shape[1] - 1):
        changed = X.clone()
        changed[:, j:] = torch.randn(X[:, j:].shape)
        moved = (layer(changed) - before)[:, :j].abs().max()
        leaks = leaks or bool(moved > 1e-4)
    if training is not None:
        layer.train(training)
    return leaks
""",
        behaviour="any input",
        case="the last but one of many rows sees the last",
        question="Is the last row ever changed by itself?",
    ),
    Mistake(
        id="future-neighbours-only",
        cause="only the row right before the changed one is watched",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        if not torch.allclose(layer(changed)[:, j - 1], before[:, j - 1], atol=1e-5):
            return True
    return False
""",
        case="the first row sees the last",
        question=(
            "Here the first row sees the last, and nothing in between. Do you go through all rows, and "
            "watch all rows before each?"
        ),
    ),
    Mistake(
        id="future-returns-in-the-loop",
        cause="return stands in the loop, so only the first change is made",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        if (layer(changed)[:, :j] - before[:, :j]).abs().max() > 1e-4:
            return True
        return False
    return False
""",
        case="the first row sees the last",
        question=(
            "Here the first row sees the last, and nothing in between. Do you go through all rows, and "
            "watch all rows before each?"
        ),
    ),
    Mistake(
        id="future-every-row-must-see-it",
        cause="all for any: every row would have to see the future",
        code="""
def sees_future(layer, X):
    before, seen = layer(X), []
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        seen.append(bool((layer(changed) - before)[:, :j].abs().max() > 1e-4))
    return bool(seen) and all(seen)
""",
        case="the first row sees the last",
        question=(
            "Here the first row sees the last, and nothing in between. Do you go through all rows, and "
            "watch all rows before each?"
        ),
    ),
    Mistake(
        id="future-first-text-only",
        cause="only the first text of the batch is watched",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j:] = torch.randn(X[:, j:].shape)
        if not torch.allclose(layer(changed)[0, :j], before[0, :j], atol=1e-5):
            return True
    return False
""",
        case="no mask for one text of the batch",
        question="Here only one text of the batch sees its future. Which texts do you watch?",
    ),
    Mistake(
        id="future-constant-added",
        cause="a constant is added to a row, which a normalised row does not feel",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] += 10.0
        if not torch.allclose(layer(changed)[:, :j], before[:, :j], rtol=1e-3, atol=1e-3):
            return True
    return False
""",
        case="rows normalised one by one, no mask",
        question=(
            "This layer brings each row to mean 0 and variance 1 first. What is then left of the change "
            "that you make?"
        ),
    ),
    Mistake(
        id="future-row-doubled",
        cause="a row is doubled, which a normalised row does not feel",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] *= 2.0
        if not torch.allclose(layer(changed)[:, :j], before[:, :j], rtol=1e-3, atol=1e-3):
            return True
    return False
""",
        case="rows normalised one by one, no mask",
        question=(
            "This layer brings each row to mean 0 and variance 1 first. What is then left of the change "
            "that you make?"
        ),
    ),
    Mistake(
        id="future-coarse-comparison",
        cause="small movements are taken for none",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j:] = torch.randn(X[:, j:].shape)
        if (layer(changed) - before)[:, :j].abs().max() > 0.15:
            return True
    return False
""",
        case="a faint trace of one of many rows",
        question=FAINT,
    ),
    Mistake(
        id="future-returns-the-movement",
        cause="the size of the movement is returned",
        code="""
def sees_future(layer, X):
    before, largest = layer(X), 0.0
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = 0.0
        largest = max(largest, float((layer(changed) - before)[:, :j].abs().max()))
    return largest
""",
        case="each row by itself",
        question="Return answer as True or False, not a number",
    ),
    Mistake(
        id="future-shorter-texts",
        cause="the layer is called with texts that are cut off",
        code="""
def sees_future(layer, X):
    whole = layer(X)
    for length in range(1, X.shape[1]):
        if not torch.allclose(layer(X[:, :length]), whole[:, :length], atol=1e-5):
            return True
    return False
""",
        case="causal attention",
        question=(
            "This layer is made for texts of one length, and yours calls it with a shorter one. How else "
            "can the end of a text be made not to count?"
        ),
    ),
    Mistake(
        id="future-input-in-place",
        cause="X itself is changed",
        code="""
def sees_future(layer, X):
    mode = getattr(layer, "training", False)
    if mode:
        layer.eval()
    before, leaks = layer(X).clone(), False
    for j in range(X.shape[1] - 1, 0, -1):
        X[:, j] = torch.randn(X.shape[0], X.shape[-1])
        leaks = leaks or not torch.allclose(layer(X)[:, :j], before[:, :j], atol=1e-5)
    if mode:
        layer.train()
    return leaks
""",
        behaviour="any input",
        case="two rows, no mask",
        question="Your function changes its input X",
    ),
    Mistake(
        id="future-dropout-in-training",
        cause="a module with dropout is left in training mode while it is compared",
        code="""
def sees_future(layer, X):
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        if not torch.allclose(layer(changed)[:, :j], before[:, :j], atol=1e-5):
            return True
    return False
""",
        behaviour="any input",
        case="dropout, causal attention",
        question=(
            "Call this layer twice with the same X: what do you see? In which mode is it the same each time?"
        ),
    ),
    Mistake(
        id="future-mode-not-restored",
        cause="the module stays in evaluation mode",
        code="""
def sees_future(layer, X):
    if isinstance(layer, nn.Module):
        layer.eval()
    before = layer(X)
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        if not torch.allclose(layer(changed)[:, :j], before[:, :j], atol=1e-5):
            return True
    return False
""",
        behaviour="any input",
        case="dropout, causal attention",
        question=(
            "The layer came in training mode and yours leaves it in evaluation mode. What would its "
            "training do next?"
        ),
    ),
    Mistake(
        id="future-always-training-afterwards",
        cause="the module goes to training mode, in whichever mode it came",
        code="""
def sees_future(layer, X):
    module = isinstance(layer, nn.Module)
    if module:
        layer.eval()
    before, leaks = layer(X), False
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        leaks = leaks or not torch.allclose(layer(changed)[:, :j], before[:, :j], atol=1e-5)
    if module:
        layer.train()
    return leaks
""",
        behaviour="any input",
        case="evaluation mode, causal attention",
        question=(
            "The layer came in evaluation mode and yours leaves it in training mode. What would its next "
            "user get?"
        ),
    ),
    Mistake(
        id="future-rounding-counts",
        cause="outputs are compared to the last bit, so that rounding counts as a dependence",
        code="""
def sees_future(layer, X):
    mode = getattr(layer, "training", False)
    if mode:
        layer.eval()
    before, leaks = layer(X), False
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        leaks = leaks or not torch.equal(layer(changed)[:, :j], before[:, :j])
    if mode:
        layer.train()
    return leaks
""",
        behaviour="any input",
        case="only rounding from later rows",
        question=(
            "By how much do the earlier rows of this layer's output move? From which size on does the "
            "statement call it a dependence?"
        ),
    ),
    Mistake(
        id="future-one-row-crashes",
        cause="with one row there are no earlier rows whose largest movement could be found",
        code="""
def sees_future(layer, X):
    mode = getattr(layer, "training", False)
    if mode:
        layer.eval()
    before, moved = layer(X), []
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[-1])
        moved.append((layer(changed) - before)[:, :j].abs().max())
    if mode:
        layer.train()
    return bool(max(moved) > 1e-4)
""",
        behaviour="any input",
        case="one row",
        question=(
            "With one row your list of movements stays empty. What is the answer when there is no later row?"
        ),
    ),
    Mistake(
        id="causal-small-integers",
        cause="positions are integers of 8 bits, which end at 127",
        code="""
def causal_mask(length):
    positions = torch.arange(length).to(torch.int8)
    return positions[:, None] >= positions
""",
        case="a long text",
        question="Behind token 127 your mask starts anew. How far do your integers count?",
    ),
    Mistake(
        id="causal-window",
        cause="only the last 64 keys are allowed",
        code="""
def causal_mask(length):
    positions = torch.arange(length)
    back = positions[:, None] - positions
    return (back >= 0) & (back < 64)
""",
        case="a long text",
        question="Keys far back are hidden in your mask. How far back may a query see?",
    ),
    Mistake(
        id="padding-small-integers",
        cause="lengths are integers of 8 bits, which end at 127",
        code=Edit(RIGHT_PADDING, "torch.as_tensor(lengths)", "torch.as_tensor(lengths).to(torch.int8)"),
        behaviour="any input",
        case="many long texts",
        question="Long texts are cut in your mask. How far do your integers count?",
    ),
    Mistake(
        id="padding-sixteen-texts",
        cause="no more than sixteen rows",
        code="""
def padding_mask(lengths, max_length):
    rows = torch.arange(max_length) < torch.as_tensor(lengths)[:, None]
    return rows[:16]
""",
        behaviour="any input",
        case="many long texts",
        question="Some texts have no row in your mask. How many rows does a batch of texts need?",
    ),
    Mistake(
        id="attention-causal-where-queries-are-keys",
        cause="a causal mask of its own, where queries and keys are the same tensor",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = Q @ K.mT / math.sqrt(K.shape[-1])
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
        mask = mask.tril() if Q is K else mask
    weights = masked_softmax(scores, mask)
    return weights @ V, weights
""",
        behaviour="any input",
        case="queries that are the keys",
        question="Without a mask every query may attend to every key. Who hides the later ones here?",
    ),
    Mistake(
        id="attention-products-clamped",
        cause="products are kept within ±20,000 before they are divided",
        code=Edit(RIGHT_ATTENTION, "Q @ K.mT", "(Q @ K.mT).clamp(-20_000, 20_000)"),
        behaviour="any input",
        case="scores of nearly 10,000",
        question="Your largest products have become the same. Which step keeps them within a range?",
    ),
    Mistake(
        id="attention-values-detached",
        cause="no gradient reaches the values",
        code=Edit(RIGHT_ATTENTION, "weights @ V", "weights @ V.detach()"),
        behaviour="empty rows",
        case="no empty row",
        question="No gradient reaches V.",
    ),
    Mistake(
        id="softmax-no-gradient-near-1",
        cause="weights above 0.999 are taken for 1, on the way back only",
        code="""
def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
    fixed = weights.detach()
    return torch.where(fixed > 0.999, fixed, weights)
""",
        behaviour="empty rows",
        case="nearly all weight on one key",
        question="A weight near 1 has no gradient in your function, or another one. Which step cuts it off?",
    ),
    Mistake(
        id="future-norm-of-all-movements",
        cause="movements of all rows and columns count together, and small ones not at all",
        code="""
def sees_future(layer, X):
    training = isinstance(layer, nn.Module) and layer.training
    if training:
        layer.eval()
    before, leaks = layer(X), False
    for j in range(1, X.shape[1]):
        changed = X.clone()
        changed[:, j] = torch.randn(X.shape[0], X.shape[2], generator=torch.Generator().manual_seed(j))
        leaks = leaks or bool((layer(changed) - before)[:, :j].norm() > 0.005)
    if training:
        layer.train()
    return leaks
""",
        behaviour="any input",
        case="a faint trace in one text",
        question="Here one output of one text moves by about 0.003. From which movement on do you say True?",
    ),
    *versions(
        id="changes-the-mask",
        cause="empty rows are filled in the caller's mask",
        behaviour="empty rows",
        of={
            "masked_softmax": (
                """
def masked_softmax(scores, mask):
    empty = ~mask.any(dim=-1, keepdim=True)
    mask |= empty
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).masked_fill(empty, 0.0)
""",
                "an empty row",
                "Your function changes its input mask",
            ),
            "masked_attention": (
                """
def masked_attention(Q, K, V, mask=None):
    mask = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool) if mask is None else mask
    empty = ~mask.any(dim=-1, keepdim=True)
    mask |= empty
    scores = (Q @ K.mT / math.sqrt(K.shape[-1])).masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1).masked_fill(empty, 0.0).masked_fill(~mask, 0.0)
    return weights @ V, weights
""",
                "an empty row",
                "Your function changes its input mask",
            ),
        },
    ),
    *versions(
        id="sees-future-blind",
        cause="the test for leaks misses some",
        function="sees_future",
        of={
            "without abs": (
                changed(RIGHT_SEES_FUTURE, (".abs().max()", ".max()")),
                "squares of a later row",
                SQUARES,
            ),
            "mean": (
                changed(RIGHT_SEES_FUTURE, ("max()", "mean()")),
                "a faint trace of one of many rows",
                FAINT,
            ),
            "limit too high": (
                changed(RIGHT_SEES_FUTURE, ("1e-4", "0.01")),
                "a faint trace of one of many rows",
                FAINT,
            ),
            "mean over columns": (
                changed(RIGHT_SEES_FUTURE, (".abs()", ".mean(dim=-1).abs()")),
                "a faint trace of one of many rows",
                FAINT,
            ),
            "first column": (
                changed(RIGHT_SEES_FUTURE, ("[:, :j]", "[:, :j, 0]")),
                "a faint trace of one of many rows",
                FAINT,
            ),
            "first entry": (
                changed(
                    RIGHT_SEES_FUTURE,
                    (
                        "other[:, j] = torch.randn(X.shape[0], X.shape[2])",
                        "other[:, j, 0] = torch.randn(X.shape[0])",
                    ),
                ),
                "a faint trace of one of many rows",
                FAINT,
            ),
            "sign": (
                changed(RIGHT_SEES_FUTURE, ("torch.randn(X.shape[0], X.shape[2])", "-X[:, j]")),
                "squares of a later row",
                SQUARES,
            ),
            "order": (
                changed(RIGHT_SEES_FUTURE, ("torch.randn(X.shape[0], X.shape[2])", "X[:, j].flip(-1)")),
                "squares of a later row",
                SQUARES,
            ),
        },
    ),
)

RIGHT = (
    RightAnswer(
        id="causal-loops",
        function="causal_mask",
        code="""
def causal_mask(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(length):
            mask[i, j] = j <= i
    return mask
""",
    ),
    RightAnswer(
        id="causal-counted",
        function="causal_mask",
        code="""
def causal_mask(length):
    return torch.eye(length).cumsum(dim=0) > 0
""",
    ),
    RightAnswer(
        id="causal-not-the-future",
        function="causal_mask",
        code="""
import numpy as np


def causal_mask(length):
    future = np.triu(np.ones((length, length)), k=1).astype("uint8")
    return torch.from_numpy(future == 0)
""",
    ),
    RightAnswer(
        id="causal-through-padding",
        function="causal_mask",
        code="""
def causal_mask(length):
    return padding_mask(list(range(1, length + 1)), length)


def padding_mask(lengths, max_length):
    return torch.stack([torch.arange(max_length) < n for n in lengths])
""",
    ),
    RightAnswer(
        id="padding-rows-of-lists",
        function="padding_mask",
        code="""
def padding_mask(lengths, max_length):
    rows = [int(n) * [True] + (max_length - int(n)) * [False] for n in lengths]
    return torch.tensor(rows, dtype=torch.bool)
""",
    ),
    RightAnswer(
        id="padding-columns",
        function="padding_mask",
        code="""
def padding_mask(lengths, max_length):
    lengths = torch.tensor([float(n) for n in lengths])
    return torch.stack([lengths > place for place in range(max_length)], dim=1)
""",
    ),
    RightAnswer(
        id="padding-from-causal",
        function="padding_mask",
        code="""
def padding_mask(lengths, max_length):
    table = torch.ones(max_length + 1, max_length, dtype=torch.bool).tril(-1)
    return table[torch.as_tensor(lengths, dtype=torch.long)]
""",
    ),
    RightAnswer(
        id="softmax-statement-loop",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    if scores.ndim > 2:
        masks = mask.expand(scores.shape)
        return torch.stack([masked_softmax(table, each) for table, each in zip(scores, masks)])
    mask = mask.expand(scores.shape)
    weights = torch.zeros_like(scores)
    for i in range(len(scores)):
        allowed = [j for j in range(len(scores[i])) if mask[i, j]]
        for j in allowed:
            weights[i, j] = 1 / sum(torch.exp((scores[i, k] - scores[i, j]).clamp(max=80)) for k in allowed)
    return weights
""",
    ),
    RightAnswer(
        id="softmax-minus-1e30",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    weights = torch.softmax(torch.where(mask, scores, -1e30), dim=-1)
    return weights * mask
""",
    ),
    RightAnswer(
        id="softmax-smallest-float",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(mask.logical_not(), lowest).softmax(-1)
    return torch.where(mask.any(-1, keepdim=True), weights, torch.zeros(()))
""",
    ),
    RightAnswer(
        id="softmax-log-sum-exp",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    kept = torch.where(mask, scores, torch.tensor(-1e20))
    top = kept.detach().amax(dim=-1, keepdim=True)
    log_sum = top + torch.log(torch.exp(kept - top).sum(dim=-1, keepdim=True))
    return torch.exp(kept - log_sum) * mask
""",
    ),
    RightAnswer(
        id="softmax-float64-inside",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    kept = scores.double().masked_fill(~mask, -1e300)
    exponentials = (kept - kept.max(dim=-1, keepdim=True).values).exp() * mask
    sums = exponentials.sum(dim=-1, keepdim=True)
    return (exponentials / (sums + (sums == 0))).float()
""",
    ),
    RightAnswer(
        id="softmax-float64-outside",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    table, allowed = torch.broadcast_tensors(scores.to(torch.float64), mask)
    safe = torch.where(allowed, table, torch.full_like(table, -1e18))
    return torch.softmax(safe, -1) * allowed.to(torch.float64)
""",
    ),
    RightAnswer(
        id="softmax-extra-key",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    hidden = ~mask.expand(scores.shape)
    empty = hidden.all(dim=-1, keepdim=True)
    escape = torch.zeros(empty.shape).masked_fill(~empty, -torch.inf)
    kept = torch.cat([scores.masked_fill(hidden, -torch.inf), escape], dim=-1)
    return kept.softmax(dim=-1)[..., :-1]
""",
    ),
    RightAnswer(
        id="softmax-nan-to-num-after-masked-fill",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num(0.0)
""",
    ),
    RightAnswer(
        id="softmax-row-by-row",
        function="masked_softmax",
        code="""
def masked_softmax(scores, mask):
    mask = torch.logical_and(mask, torch.ones_like(scores, dtype=torch.bool))
    rows, allowed = scores.reshape(-1, scores.shape[-1]), mask.reshape(-1, scores.shape[-1])
    filled = []
    for row, may in zip(rows, allowed):
        weights = torch.zeros(len(row))
        if may.any():
            weights = weights.masked_scatter(may, row[may].softmax(0))
        filled.append(weights)
    return torch.stack(filled).reshape(scores.shape)
""",
    ),
    RightAnswer(
        id="attention-ones-mask",
        function="masked_attention",
        code="""
def masked_attention(Q, K, V, mask=None):
    if mask is None:
        mask = torch.ones((), dtype=torch.bool).expand(Q.shape[-2], K.shape[-2])
    weights = masked_softmax(torch.einsum("...lk,...mk->...lm", Q, K) * K.shape[-1] ** -0.5, mask)
    return torch.einsum("...lm,...mv->...lv", weights, V), weights
""",
    ),
    RightAnswer(
        id="attention-by-itself",
        function="masked_attention",
        code="""
def masked_attention(Q, K, V, mask=None):
    scores = (Q / math.sqrt(Q.size(-1))).matmul(K.transpose(-2, -1))
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    top = torch.where(allowed, scores, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.exp(torch.where(allowed, scores - top, -1e30))
    weights = powers * allowed / (powers * allowed).sum(-1, keepdim=True).clamp_min(0.5)
    return weights.matmul(V), weights
""",
    ),
    RightAnswer(
        id="attention-class",
        function="masked_attention",
        code="""
class MaskedAttention(nn.Module):
    def forward(self, Q, K, V, mask=None):
        scores = Q @ K.mT / Q.shape[-1] ** 0.5
        mask = torch.ones_like(scores) > 0 if mask is None else mask
        weights = masked_softmax(scores, mask)
        return [(weights[..., None] * V[..., None, :, :]).sum(dim=-2), weights]


masked_attention = MaskedAttention()
""",
    ),
    RightAnswer(
        id="attention-float64",
        function="masked_attention",
        code="""
def masked_attention(Q, K, V, mask=None):
    Q, K, V = Q.double(), K.double(), V.double()
    scores = Q @ K.mT / math.sqrt(K.shape[-1])
    weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights
""",
    ),
    RightAnswer(
        id="attention-table-by-table",
        function="masked_attention",
        code="""
def masked_attention(Q, K, V, mask=None):
    if mask is not None:
        mask = mask.expand(*Q.shape[:-1], K.shape[-2])
    if Q.ndim > 2:
        masks = [None] * len(Q) if mask is None else mask
        outputs, weights = zip(*(masked_attention(*tables) for tables in zip(Q, K, V, masks)))
        return torch.stack(outputs), torch.stack(weights)
    allowed = torch.ones(len(Q), len(K), dtype=torch.bool) if mask is None else mask
    rows = []
    for query, may in zip(Q, allowed):
        row = (K @ query / math.sqrt(len(query))).masked_fill(~may, -1e30).softmax(0)
        rows.append(row * may)
    weights = torch.stack(rows)
    return torch.stack([(row[:, None] * V).sum(0) for row in weights]), weights
""",
    ),
    RightAnswer(
        id="future-pair-by-pair",
        function="sees_future",
        code="""
def sees_future(layer, X):
    training = getattr(layer, "training", None)
    if training:
        layer.eval()
    still, length, found = layer(X), X.shape[1], []
    for i in range(length):
        for j in range(i + 1, length):
            changed = X.clone()
            changed[:, j] = torch.randn(X.shape[-1])
            found.append(not torch.allclose(layer(changed)[:, i], still[:, i], rtol=0, atol=1e-6))
    if training:
        layer.train()
    return any(found)
""",
    ),
    RightAnswer(
        id="future-zeros",
        function="sees_future",
        code="""
def sees_future(layer, X):
    mode = layer.training if isinstance(layer, nn.Module) else False
    if mode:
        layer.train(False)
    leaks = False
    for t in range(1, X.shape[1]):
        cut = torch.cat([X[:, :t], torch.zeros_like(X[:, t:])], dim=1)
        leaks |= not torch.allclose(layer(cut)[:, :t], layer(X)[:, :t], rtol=0, atol=1e-5)
    if mode:
        layer.train(True)
    return leaks
""",
    ),
    RightAnswer(
        id="future-jacobian",
        function="sees_future",
        code="""
def sees_future(layer, X):
    slopes = torch.autograd.functional.jacobian(layer, X)
    felt = slopes.abs().amax(dim=(2, 5))
    pairs = felt.amax(dim=(0, 2))
    return torch.triu(pairs, diagonal=1).max() > 1e-7
""",
    ),
    RightAnswer(
        id="future-gradient-row-by-row",
        function="sees_future",
        code="""
def sees_future(layer, X):
    X = X.clone().requires_grad_()
    output = layer(X)
    for i in range(X.shape[1]):
        pattern = torch.randn(output[:, i].shape)
        (slope,) = torch.autograd.grad((output[:, i] * pattern).sum(), X, retain_graph=True)
        if slope[:, i + 1 :].ne(0).any():
            return True
    return False
""",
    ),
    RightAnswer(
        id="future-same-seed",
        function="sees_future",
        code="""
def sees_future(layer, X):
    def output(rows):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return layer(rows)

    before = output(X)
    return any(
        (output(torch.where(torch.arange(X.shape[1])[:, None] < j, X, -3.0 * X + 1.0)) - before)[:, :j]
        .abs()
        .gt(1e-4)
        .any()
        .item()
        for j in range(1, X.shape[1])
    )
""",
    ),
    RightAnswer(
        id="future-numpy-bool",
        function="sees_future",
        code="""
import copy


def sees_future(layer, X):
    layer = copy.deepcopy(layer)
    if hasattr(layer, "eval"):
        layer.eval()
    with torch.no_grad():
        before = layer(X)
        largest = torch.zeros(())
        for j in reversed(range(1, X.shape[1])):
            changed = X.clone()
            changed[:, j:] = changed[:, j:].flip(-1) + torch.rand(X[:, j:].shape)
            largest = torch.maximum(largest, (layer(changed)[:, :j] - before[:, :j]).abs().max())
    return largest > 1e-4
""",
    ),
)
