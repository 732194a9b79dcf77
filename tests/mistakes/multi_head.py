"""Assignment 05: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, changed, versions

RIGHT_ATTENTION = """
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = (split_heads(X @ W, num_heads) for W in (W_q, W_k, W_v))
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = masked_softmax(scores, mask[..., None, :, :])
    return join_heads(weights @ V) @ W_o, weights
"""
SOFTMAX = """    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = masked_softmax(scores, mask[..., None, :, :])
"""
RIGHT_MODULE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X, mask=None):
        matrices = [linear.weight.T for linear in (self.W_q, self.W_k, self.W_v, self.W_o)]
        return multi_head_attention(X, *matrices, self.num_heads, mask)
"""


SPLITS = (
    Mistake(
        id="split-without-transpose",
        cause="the shape is asked for at once, so tokens and heads are mixed up",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, num_heads, L, D // num_heads)
""",
        case="numbers that tell their place",
        question=(
            "Look at head 0: its second row is the second piece of token 0. Into which two axes does D "
            "fall apart before heads and tokens change places?"
        ),
    ),
    Mistake(
        id="split-transpose-before",
        cause="tokens and columns change places first, then the shape is forced",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.transpose(1, 2).reshape(B, num_heads, L, D // num_heads)
""",
        case="numbers that tell their place",
        question=(
            "Look at a row of head 0: it mixes tokens. Which two axes does your transpose exchange, and "
            "is there an axis of heads yet?"
        ),
    ),
    Mistake(
        id="split-interleaved",
        cause="head h gets every H-th column",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, L, D // num_heads, num_heads).permute(0, 3, 1, 2)
""",
        case="numbers that tell their place",
        question=(
            "Your columns are dealt out to the heads like cards, one each in turn. Which columns does the "
            "statement give to head 0?"
        ),
    ),
    Mistake(
        id="split-heads-after-tokens",
        cause="heads and tokens do not change places",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, L, num_heads, D // num_heads)
""",
        case="random numbers",
        question="Each row is cut well. What stands between B and the rows of a head?",
    ),
    Mistake(
        id="split-columns-before-tokens",
        cause="the last two axes are exchanged",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, L, num_heads, D // num_heads).permute(0, 2, 3, 1)
""",
        case="random numbers",
        question="In your heads, columns stand before tokens. Are tokens rows or columns of a table?",
    ),
    Mistake(
        id="split-heads-in-front",
        cause="the heads stand before the batch",
        code="""
def split_heads(X, num_heads):
    if X.shape[-1] % num_heads:
        raise ValueError("num_heads must divide D")
    return torch.stack(X.chunk(num_heads, dim=-1))
""",
        case="random numbers",
        question="Your pieces are right, and stacked in front of the batch. Which axis should the heads be?",
    ),
    Mistake(
        id="split-number-for-width",
        cause="num_heads is taken for the width of a head",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, L, D // num_heads, num_heads).transpose(1, 2)
""",
        case="random numbers",
        question="Your heads are `num_heads` columns wide. Is that the number of heads, or the width of one?",
    ),
    Mistake(
        id="split-no-batch",
        cause="only the first text is split",
        code="""
def split_heads(X, num_heads):
    L, D = X.shape[1:]
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X[0].reshape(L, num_heads, D // num_heads).transpose(0, 1)
""",
        case="random numbers",
        question="These are the heads of the first text. Where are the other texts of the batch?",
    ),
    Mistake(
        id="split-squeezed",
        cause="axes of length 1 are dropped",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads must divide D")
    return X.reshape(B, L, num_heads, D // num_heads).transpose(1, 2).squeeze()
""",
        behaviour="any input",
        case="a batch of one",
        question="An axis of length 1 is gone. Which step drops it, and would the next function miss it?",
    ),
    Mistake(
        id="split-pytorch-complains",
        cause="an indivisible width is left to reshape, which raises another error",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    return X.reshape(B, L, num_heads, D // num_heads).transpose(1, 2)
""",
        behaviour="refuses",
        case="one column too many",
        question=(
            "PyTorch notices by itself, in words of its own. Who should say that H must divide D, and when?"
        ),
    ),
    *versions(
        id="split-indivisible-let-through",
        cause="some numbers of heads that do not divide D are let through",
        of={
            "all, and columns dropped": (
                """
def split_heads(X, num_heads):
    W = X.shape[-1] // num_heads
    return torch.stack([X[..., h * W : (h + 1) * W] for h in range(num_heads)], dim=1)
""",
                "one column too many",
                "it must raise ValueError; yours returned a PyTorch tensor",
            ),
            "all but remainders of 1": (
                """
def split_heads(X, num_heads):
    W = X.shape[-1] // num_heads
    if X.shape[-1] % num_heads == 1 or W == 0:
        raise ValueError("num_heads must divide D")
    return torch.stack([X[..., h * W : (h + 1) * W] for h in range(num_heads)], dim=1)
""",
                "other remainders",
                "it must raise ValueError; yours returned a PyTorch tensor",
            ),
            "more heads than columns": (
                """
def split_heads(X, num_heads):
    W = X.shape[-1] // num_heads
    if W and X.shape[-1] % num_heads:
        raise ValueError("num_heads must divide D")
    return torch.stack([X[..., h * W : (h + 1) * W] for h in range(num_heads)], dim=1)
""",
                "more heads than columns",
                "it must raise ValueError; yours returned a PyTorch tensor",
            ),
        },
        behaviour="refuses",
    ),
    Mistake(
        id="split-assert",
        cause="an assert instead of a ValueError",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    assert D % num_heads == 0, "num_heads must divide D"
    return X.reshape(B, L, num_heads, D // num_heads).transpose(1, 2)
""",
        behaviour="refuses",
        case="one column too many",
        question="You look at the right thing. Which kind of error does the statement ask for?",
    ),
)

JOINS = (
    Mistake(
        id="join-without-transpose",
        cause="the shape is asked for at once, so tokens and heads are mixed up",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    return X.reshape(B, L, H * W)
""",
        case="numbers that tell their place",
        question=(
            "Look at row 0: it holds two tokens of head 0. Which two axes must stand side by side before "
            "they become one?"
        ),
    ),
    Mistake(
        id="join-interleaved",
        cause="columns alternate between the heads",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    return X.permute(0, 2, 3, 1).reshape(B, L, H * W)
""",
        case="numbers that tell their place",
        question=(
            "In your rows the heads take turns, column by column. Which of the joined axes must be the last?"
        ),
    ),
    Mistake(
        id="join-view",
        cause="view after transpose",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    return X.transpose(1, 2).view(B, L, H * W)
""",
        case="random numbers",
        question=(
            "The axes are right. `view` never moves a number, and after a transpose some must move: what "
            "does the message propose?"
        ),
    ),
    Mistake(
        id="join-not-joined",
        cause="axes change places, and none are joined",
        code="""
def join_heads(X):
    return X.transpose(1, 2)
""",
        case="random numbers",
        question="There are four axes still. Which two become one?",
    ),
    Mistake(
        id="join-added",
        cause="heads are added up",
        code="""
def join_heads(X):
    return X.sum(dim=1)
""",
        case="random numbers",
        question="Your heads are added up. How wide is a row when they stand side by side instead?",
    ),
    Mistake(
        id="join-below-each-other",
        cause="heads are put below each other",
        code="""
def join_heads(X):
    return torch.cat(list(X.unbind(dim=1)), dim=1)
""",
        case="random numbers",
        question="Your heads stand below each other, as more tokens. Along which axis must they be joined?",
    ),
    Mistake(
        id="join-tokens-and-columns",
        cause="tokens and columns are joined instead of heads and columns",
        code="""
def join_heads(X):
    return X.flatten(start_dim=2)
""",
        case="random numbers",
        question="You made one axis of tokens and columns. Which axis must not be joined with any other?",
    ),
    Mistake(
        id="join-squeezed",
        cause="axes of length 1 are dropped",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    return X.transpose(1, 2).reshape(B, L, H * W).squeeze()
""",
        behaviour="any input",
        case="a batch of one",
        question="An axis of length 1 is gone. Which step drops it, and would the next function miss it?",
    ),
)

ATTENTIONS = (
    Mistake(
        id="attention-mixed-on-the-way-in",
        cause="reshape without transpose on the way in",
        code=Edit(
            RIGHT_ATTENTION,
            "split_heads(X @ W, num_heads)",
            "(X @ W).reshape(len(X), num_heads, X.shape[1], -1)",
        ),
        case="a batch",
        question=(
            "Your weights are what comes out when queries and keys get the shape of heads at once. "
            "Does a row of a head still belong to one token?"
        ),
    ),
    Mistake(
        id="attention-mixed-on-the-way-out",
        cause="reshape without transpose on the way out",
        code=Edit(RIGHT_ATTENTION, "join_heads(weights @ V)", "(weights @ V).reshape(X.shape)"),
        case="a batch",
        question=(
            "Your output is what comes out when the heads get the shape (B, L, D) at once. Which axes must "
            "change places first?"
        ),
    ),
    Mistake(
        id="attention-mixed-both-ways",
        cause="reshape without transpose on the way in and on the way out",
        code=changed(
            RIGHT_ATTENTION,
            (
                "    Q, K, V = (split_heads(X @ W, num_heads) for",
                "    B, L, D = X.shape\n    Q, K, V = ((X @ W).reshape(B, num_heads, L, D // num_heads) for",
            ),
            ("join_heads(weights @ V)", "(weights @ V).reshape(X.shape)"),
        ),
        case="a batch",
        question=(
            "Your reshapes undo each other, yet between them tokens and heads are mixed up. Which tokens "
            "does a row of one head see there?"
        ),
    ),
    Mistake(
        id="attention-interleaved",
        cause="head h gets every H-th column",
        code=changed(
            RIGHT_ATTENTION,
            (
                "    Q, K, V = (split_heads(X @ W, num_heads) for",
                "    Q, K, V = ((X @ W).unflatten(-1, (-1, num_heads)).permute(0, 3, 1, 2) for",
            ),
            ("join_heads(weights @ V)", "(weights @ V).permute(0, 2, 3, 1).flatten(start_dim=2)"),
        ),
        case="a batch",
        question=("Your heads take every H-th column. Which columns does the statement give to head 0?"),
    ),
    Mistake(
        id="attention-number-for-width",
        cause="num_heads is taken for the width of a head",
        code=changed(
            RIGHT_ATTENTION,
            ("split_heads(X @ W, num_heads)", "split_heads(X @ W, X.shape[-1] // num_heads)"),
        ),
        case="a batch",
        question="Is `num_heads` the number of heads, or the width of one? Your tables of weights tell.",
    ),
    Mistake(
        id="attention-one-wide-head",
        cause="num_heads is not used",
        code=changed(RIGHT_ATTENTION, ("split_heads(X @ W, num_heads)", "split_heads(X @ W, 1)")),
        case="a batch",
        question="There is one table of weights for each text. Where does `num_heads` come in?",
    ),
    *versions(
        id="attention-root-of-another",
        cause="divided by the root of another length than a head's width",
        of={
            "width of the model": (
                Edit(RIGHT_ATTENTION, "Q.shape[-1]", "X.shape[-1]"),
                "a batch",
                "Your scores are divided by the root of D. How many columns does a query of one head have?",
            ),
            "number of heads": (
                changed(RIGHT_ATTENTION, ("math.sqrt(Q.shape[-1])", "math.sqrt(Q.shape[1])")),
                "a batch",
                "Your scores are divided by the root of the number of heads. Which axis of `Q` is the width?",
            ),
            "number of tokens": (
                changed(RIGHT_ATTENTION, ("math.sqrt(Q.shape[-1])", "math.sqrt(Q.shape[2])")),
                "a batch",
                (
                    "Your scores are divided by the root of the number of tokens. Which axis of `Q` is the "
                    "width?"
                ),
            ),
        },
    ),
    Mistake(
        id="attention-not-scaled",
        cause="the scores are not scaled",
        code=Edit(RIGHT_ATTENTION, " / math.sqrt(Q.shape[-1])", ""),
        case="a batch",
        question="Your scores go into softmax as they are. What does the formula do to them first?",
    ),
    Mistake(
        id="attention-width-without-root",
        cause="divided by the width instead of its root",
        code=changed(RIGHT_ATTENTION, ("math.sqrt(Q.shape[-1])", "Q.shape[-1]")),
        case="a batch",
        question="Your scores are divided by the whole width of a head. What does the formula divide by?",
    ),
    Mistake(
        id="attention-softmax-over-heads",
        cause="softmax runs over the heads",
        code=Edit(
            RIGHT_ATTENTION,
            SOFTMAX,
            """    if mask is not None:
        scores = scores.masked_fill(~mask[..., None, :, :], -1e9)
    weights = scores.softmax(dim=1)
""",
        ),
        case="a batch",
        question=(
            "Your weights sum to 1 over the heads. Who competes for a query: the keys of one head, "
            "or the heads? On which axis do they lie?"
        ),
    ),
    Mistake(
        id="attention-softmax-over-queries",
        cause="softmax runs over the queries",
        code=Edit(
            RIGHT_ATTENTION,
            SOFTMAX,
            """    if mask is not None:
        scores = scores.masked_fill(~mask[..., None, :, :], -1e9)
    weights = scores.softmax(dim=-2)
""",
        ),
        case="a batch",
        question=(
            "Each column of your tables sums to 1. Do the keys compete for a query, or the queries for a key?"
        ),
    ),
    Mistake(
        id="attention-scores-added-over-heads",
        cause="scores are added up over the heads, which is the one wide head",
        code=changed(
            RIGHT_ATTENTION,
            (
                "    if mask is None",
                "    scores = scores.sum(dim=1, keepdim=True).expand_as(scores)\n    if mask is None",
            ),
        ),
        case="a batch",
        question="All your heads have the same table of weights. Where do their scores come together?",
    ),
    Mistake(
        id="attention-no-mixing",
        cause="W_o is missing",
        code=Edit(RIGHT_ATTENTION, " @ W_o", ""),
        case="a batch",
        question="Your output is the joined heads as they are. Where do the heads meet each other?",
    ),
    Mistake(
        id="attention-mixing-turned",
        cause="W_o is transposed",
        code=changed(RIGHT_ATTENTION, ("@ W_o,", "@ W_o.T,")),
        case="a batch",
        question="Your output is what comes out when `W_o` is turned. Is it used as `X @ W`?",
    ),
    Mistake(
        id="attention-mixing-per-head",
        cause="each head is multiplied by its own square of W_o, so the heads never meet",
        code=changed(
            RIGHT_ATTENTION,
            (
                "    return join_heads(weights @ V) @ W_o, weights",
                """    heads, W = weights @ V, X.shape[-1] // num_heads
    parts = [slice(h * W, (h + 1) * W) for h in range(num_heads)]
    output = torch.cat([heads[:, h] @ W_o[part, part] for h, part in enumerate(parts)], dim=-1)
    return output, weights""",
            ),
        ),
        case="a batch",
        question="Each of your heads meets only its own square of `W_o`. What are the other entries for?",
    ),
    Mistake(
        id="attention-matrices-turned",
        cause="the projections are used as nn.Linear stores them",
        code=changed(RIGHT_ATTENTION, ("split_heads(X @ W, num_heads)", "split_heads(X @ W.T, num_heads)")),
        case="a batch",
        question=(
            "Your queries, keys and values come from turned matrices. How are they used here: `X @ W`, or "
            "as in `nn.Linear`?"
        ),
    ),
    Mistake(
        id="attention-same-projection-twice",
        cause="W_q makes the keys, too",
        code=changed(RIGHT_ATTENTION, ("in (W_q, W_k, W_v)", "in (W_q, W_q, W_v)")),
        case="a batch",
        question="Your queries and keys come from the same matrix. Which of the four do you never use?",
    ),
    Mistake(
        id="attention-keys-as-values",
        cause="the weighted sum is of keys",
        code=changed(RIGHT_ATTENTION, ("weights @ V", "weights @ K")),
        case="a batch",
        question="Your weights are right, and your output is a mixture of keys. What does a token hand over?",
    ),
    Mistake(
        id="attention-keys-not-turned",
        cause="heads and tokens of the keys change places, instead of tokens and columns",
        code=changed(RIGHT_ATTENTION, ("K.transpose(-2, -1)", "K.transpose(1, 2)")),
        case="a batch",
        question=(
            "`K` has four axes now. Which two must change places so that the columns of a query meet "
            "those of a key?"
        ),
    ),
    Mistake(
        id="attention-mean-of-weights",
        cause="weights are averaged over the heads",
        code=changed(RIGHT_ATTENTION, ("@ W_o, weights", "@ W_o, weights.mean(dim=1)")),
        case="a batch",
        question="Your weights are averaged over the heads. How many tables does the statement ask for?",
    ),
    Mistake(
        id="attention-output-only",
        cause="the weights are not returned",
        code=changed(RIGHT_ATTENTION, ("@ W_o, weights", "@ W_o")),
        case="a batch",
        question="Return 2 values, (output, weights)",
    ),
    Mistake(
        id="attention-order",
        cause="weights are returned before the output",
        code=changed(
            RIGHT_ATTENTION,
            (
                "return join_heads(weights @ V) @ W_o, weights",
                "return weights, join_heads(weights @ V) @ W_o",
            ),
        ),
        case="a batch",
        question="Your two values have changed places. Which one does the signature name first?",
    ),
    Mistake(
        id="attention-mask-required",
        cause="the mask has no default",
        code=changed(RIGHT_ATTENTION, ("mask=None", "mask")),
        case="a batch",
        question="missing a required argument: 'mask'",
    ),
    Mistake(
        id="attention-mask-ignored",
        cause="the mask is not used",
        code=changed(RIGHT_ATTENTION, ("if mask is None", "if True")),
        behaviour="masks",
        case="a causal mask",
        question="Your weights are those without a mask. Where does `mask` come in?",
    ),
    Mistake(
        id="attention-mask-without-head-axis",
        cause="the mask of each text has no axis for the heads",
        code=changed(RIGHT_ATTENTION, ("mask[..., None, :, :]", "mask")),
        behaviour="masks",
        case="a mask for each text",
        question=(
            "Line the axes up from the right: which axis of the scores does the first axis of a mask "
            "(B, L, L) meet?"
        ),
    ),
    Mistake(
        id="attention-mask-axis-for-three-only",
        cause="the axis for the heads is put at place 1, which is wrong for a mask (L, L)",
        code=changed(RIGHT_ATTENTION, ("mask[..., None, :, :]", "mask.unsqueeze(1)")),
        behaviour="masks",
        case="a causal mask",
        question=(
            "A mask (L, L) has no axis for the texts. At which place, counted from the right, belongs the "
            "new axis?"
        ),
    ),
    Mistake(
        id="attention-mask-upside-down",
        cause="True is taken to mean hidden",
        code=changed(RIGHT_ATTENTION, ("mask[..., None, :, :]", "~mask[..., None, :, :]")),
        behaviour="masks",
        case="a causal mask",
        question="Your tokens attend to what the mask hides. What does True mean here?",
    ),
    Mistake(
        id="attention-mask-turned",
        cause="queries and keys of the mask are exchanged",
        code=changed(RIGHT_ATTENTION, ("mask[..., None, :, :]", "mask[..., None, :, :].transpose(-2, -1)")),
        behaviour="masks",
        case="a causal mask",
        question="Your mask is turned: its rows have become keys. What are its rows?",
    ),
    Mistake(
        id="attention-mask-of-the-first-text",
        cause="all texts get the mask of the first",
        code=changed(RIGHT_ATTENTION, ("mask[..., None, :, :]", "mask if mask.ndim == 2 else mask[0]")),
        behaviour="masks",
        case="a mask for each text",
        question="All your texts use the mask of text 0. Which axis of the mask tells texts apart?",
    ),
    Mistake(
        id="attention-mask-after-softmax",
        cause="weights are multiplied by the mask",
        code=changed(
            RIGHT_ATTENTION,
            (
                "masked_softmax(scores, mask[..., None, :, :])",
                "scores.softmax(dim=-1) * mask[..., None, :, :]",
            ),
        ),
        behaviour="masks",
        case="a causal mask",
        question=(
            "You hide weights after softmax. To whom should the weight of a hidden key go, and what must "
            "come first?"
        ),
    ),
    Mistake(
        id="attention-mask-score-zero",
        cause="hidden scores become 0",
        code=changed(
            RIGHT_ATTENTION,
            (
                "masked_softmax(scores, mask[..., None, :, :])",
                "scores.masked_fill(~mask[..., None, :, :], 0.0).softmax(dim=-1)",
            ),
        ),
        behaviour="masks",
        case="a causal mask",
        question="Your hidden scores are 0. What does softmax give to a score of 0?",
    ),
    Mistake(
        id="attention-mask-changed",
        cause="the caller's mask is negated in place",
        code=changed(
            RIGHT_ATTENTION,
            (
                "masked_softmax(scores, mask[..., None, :, :])",
                "scores.masked_fill(mask.logical_not_()[..., None, :, :], -1e9).softmax(dim=-1)",
            ),
        ),
        behaviour="masks",
        case="a causal mask",
        question="Your function changes its input mask",
    ),
    Mistake(
        id="attention-matrix-scaled-in-place",
        cause="the scale is put into the caller's W_q",
        code=changed(
            RIGHT_ATTENTION,
            ("    Q, K, V", "    W_q /= math.sqrt(X.shape[-1] // num_heads)\n    Q, K, V"),
            (" / math.sqrt(Q.shape[-1])", ""),
        ),
        fails=("masks", "any input"),
        behaviour="any input",
        case="a batch of one",
        question="Your function changes its input W_q",
    ),
    Mistake(
        id="attention-squeezed",
        cause="axes of length 1 are dropped from the weights",
        code=changed(RIGHT_ATTENTION, ("@ W_o, weights", "@ W_o, weights.squeeze()")),
        behaviour="any input",
        case="a batch of one",
        question="An axis of length 1 is gone. Which step drops it?",
    ),
    Mistake(
        id="attention-softmax-without-maximum",
        cause="an own softmax divides infinity by infinity, as nothing is subtracted before exp",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    Q, K, V = (split_heads(X @ W, num_heads) for W in (W_q, W_k, W_v))
    powers = torch.exp(Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1]))
    if mask is not None:
        powers = powers * mask[..., None, :, :]
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return join_heads(weights @ V) @ W_o, weights
""",
        fails=("masks", "any input"),
        behaviour="any input",
        case="large scores",
        question="NaN",
    ),
    Mistake(
        id="attention-hidden-scores-of-minus-30",
        cause="hidden scores become -30, which is more than an allowed score may be",
        code=changed(
            RIGHT_ATTENTION,
            (
                "weights = masked_softmax(scores, mask[..., None, :, :])",
                "weights = scores.masked_fill(~mask[..., None, :, :], -30.0).softmax(dim=-1)",
            ),
        ),
        behaviour="masks",
        case="a causal mask, large scores",
        question=(
            "Here the allowed scores of a row lie below −50,000. Which number of yours stands in place of "
            "the hidden ones, and which of them is the largest?"
        ),
    ),
    Mistake(
        id="attention-dropout",
        cause="some weights are dropped at random",
        code=changed(
            RIGHT_ATTENTION,
            ("    return ", "    weights = nn.functional.dropout(weights, 0.1)\n    return "),
        ),
        case="a batch",
        question="Called twice with the same input, your function gives two different answers.",
    ),
    *(
        Mistake(
            id=f"attention-hidden-scores-of-minus-{size}",
            cause=f"hidden scores become -{size}, which is more than an allowed score may be",
            code=changed(
                RIGHT_ATTENTION,
                (
                    "weights = masked_softmax(scores, mask[..., None, :, :])",
                    f"weights = scores.masked_fill(~mask[..., None, :, :], -{size}.0).softmax(dim=-1)",
                ),
            ),
            behaviour="masks",
            case="a causal mask, large scores",
            question="Here the allowed scores of a row lie below −50,000",
        )
        for size in (10_000, 20_000, 50_000)
    ),
)

MODULES = (
    Mistake(
        id="module-dropout",
        cause="dropout, which the module does not have",
        code=changed(
            RIGHT_MODULE,
            ("self.num_heads = num_heads", "self.num_heads = num_heads\n        self.drop = nn.Dropout(0.1)"),
            (
                "def forward(self, X, mask=None):",
                "def forward(self, X, mask=None):\n        X = self.drop(X)",
            ),
        ),
        case="a batch",
        question="Called twice with the same input, your function gives two different answers.",
    ),
    Mistake(
        id="module-bias",
        cause="the linear layers have biases",
        code=changed(RIGHT_MODULE, (", bias=False", "")),
        case="a batch",
        question="Four parameters too many. What does `nn.Linear` add to a product unless told not to?",
    ),
    Mistake(
        id="module-other-names",
        cause="the layers have other names",
        code=changed(
            RIGHT_MODULE,
            ("self.W_q", "self.q_proj"),
            ("self.W_k", "self.k_proj"),
            ("self.W_v", "self.v_proj"),
            ("self.W_o", "self.out_proj"),
        ),
        case="a batch",
        question=(
            "Its parameters must be W_k.weight, W_o.weight, W_q.weight, W_v.weight; yours are k_proj.weight"
        ),
    ),
    Mistake(
        id="module-plain-parameters",
        cause="matrices are parameters, not linear layers",
        code=changed(
            RIGHT_MODULE,
            ("nn.Linear(d_model, d_model, bias=False)", "nn.Parameter(torch.randn(d_model, d_model))"),
            ("linear.weight.T for", "linear for"),
        ),
        case="a batch",
        question=(
            "Your matrices are parameters of the module itself. Which kind of module should hold each of "
            "them?"
        ),
    ),
    Mistake(
        id="module-plain-list",
        cause="the layers stand in a plain list, which a module does not look into",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.layers = [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]

    def forward(self, X, mask=None):
        return multi_head_attention(X, *(layer.weight.T for layer in self.layers), self.num_heads, mask)
""",
        case="a batch",
        question=(
            "It has no parameters at all. Does a module notice layers in a plain list, or layers that "
            "`forward` makes anew?"
        ),
    ),
    Mistake(
        id="module-layers-made-in-forward",
        cause="forward makes new layers at every call",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.d_model, self.num_heads = d_model, num_heads

    def forward(self, X, mask=None):
        layers = [nn.Linear(self.d_model, self.d_model, bias=False) for _ in range(4)]
        return multi_head_attention(X, *(layer.weight.T for layer in layers), self.num_heads, mask)
""",
        case="a batch",
        question=(
            "It has no parameters at all. Does a module notice layers in a plain list, or layers that "
            "`forward` makes anew?"
        ),
    ),
    Mistake(
        id="module-narrow-layers",
        cause="the three projections are as narrow as one head",
        code=changed(
            RIGHT_MODULE,
            ("self.W_q = nn.Linear(d_model, d_model", "self.W_q = nn.Linear(d_model, d_model // num_heads"),
            ("self.W_k = nn.Linear(d_model, d_model", "self.W_k = nn.Linear(d_model, d_model // num_heads"),
            ("self.W_v = nn.Linear(d_model, d_model", "self.W_v = nn.Linear(d_model, d_model // num_heads"),
        ),
        case="a batch",
        question="That is room for one head. How many columns do all heads need together?",
    ),
    Mistake(
        id="module-one-layer-shared",
        cause="W_q and W_k are the same layer",
        code=changed(
            RIGHT_MODULE, ("self.W_k = nn.Linear(d_model, d_model, bias=False)", "self.W_k = self.W_q")
        ),
        case="a batch",
        question="One name is missing: a module counts a layer with two names once. Which two share a layer?",
    ),
    Mistake(
        id="module-not-begun",
        cause="super().__init__() is missing",
        code=changed(RIGHT_MODULE, ("        super().__init__()\n", "")),
        case="a batch",
        question="`nn.Module` must set itself up before it can hold layers. Which line does that?",
    ),
    Mistake(
        id="module-matrices-turned",
        cause="weights are handed over as nn.Linear stores them",
        code=changed(RIGHT_MODULE, ("linear.weight.T", "linear.weight")),
        case="a batch",
        question="Your output is that of turned matrices. Which way round does `nn.Linear` store its matrix?",
    ),
    Mistake(
        id="module-no-mixing",
        cause="W_o is made and not used",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, X, mask=None):
        Q, K, V = (split_heads(layer(X), self.num_heads) for layer in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask[..., None, :, :])
        return join_heads(weights @ V), weights
""",
        case="a batch",
        question="Your output is the joined heads as they are. Which of the four layers has not been used?",
    ),
    Mistake(
        id="module-same-projection-twice",
        cause="W_q makes the keys, too",
        code=changed(RIGHT_MODULE, ("in (self.W_q, self.W_k,", "in (self.W_q, self.W_q,")),
        case="a batch",
        question="Your queries and keys come from the same layer. Which of the four is never used?",
    ),
    Mistake(
        id="module-mask-required",
        cause="forward cannot be called without a mask",
        code=changed(RIGHT_MODULE, ("mask=None", "mask")),
        case="a batch",
        question="`layer(X)` must work, too. What can a parameter of `forward` be given in its first line?",
    ),
    Mistake(
        id="module-output-only",
        cause="forward returns no weights",
        code=changed(RIGHT_MODULE, ("self.num_heads, mask)", "self.num_heads, mask)[0]")),
        case="a batch",
        question="Return 2 values, (output, weights)",
    ),
    Mistake(
        id="module-no-forward",
        cause="the method has another name than forward",
        code=changed(RIGHT_MODULE, ("def forward", "def attend")),
        case="a batch",
        question="A module that is called looks for one method. What must that be named?",
    ),
    Mistake(
        id="module-mask-not-handed-on",
        cause="forward takes a mask and does not hand it on",
        code=changed(RIGHT_MODULE, ("self.num_heads, mask)", "self.num_heads)")),
        behaviour="training",
        case="a causal mask",
        question="Your weights are those without a mask. Where does `forward` hand its mask on?",
    ),
    Mistake(
        id="module-data",
        cause="the matrices are taken out of the graph of gradients",
        code=changed(RIGHT_MODULE, ("linear.weight.T", "linear.weight.data.T")),
        behaviour="training",
        case="without a mask",
        question="No gradient flows from the output back. Does a step leave PyTorch, or detach?",
    ),
    Mistake(
        id="module-weights-detached-first",
        cause="the weights are detached before they meet the values",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, X, mask=None):
        Q, K, V = (split_heads(layer(X), self.num_heads) for layer in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask[..., None, :, :])
        weights = weights.detach()
        return self.W_o(join_heads(weights @ V)), weights
""",
        behaviour="training",
        case="without a mask",
        question="What lies between these two and the output: is something detached that is still needed?",
    ),
    Mistake(
        id="module-frozen",
        cause="W_o is frozen",
        code=changed(
            RIGHT_MODULE,
            ("\n    def forward", "        self.W_o.weight.requires_grad_(False)\n\n    def forward"),
        ),
        behaviour="training",
        case="without a mask",
        question="No gradient reaches W_o.weight",
    ),
    Mistake(
        id="module-indivisible",
        cause="a number of heads that does not divide the width is accepted",
        code=changed(
            RIGHT_MODULE,
            ("if d_model % num_heads:", "if num_heads < 1:"),
        ),
        behaviour="refuses",
        case="five heads, width 12",
        question="it must raise ValueError; yours returned a value of type MultiHeadAttention",
    ),
    Mistake(
        id="module-remembers-its-first-mask",
        cause="the mask of the first call is kept, and used ever after",
        code=changed(
            RIGHT_MODULE,
            ("        self.num_heads = num_heads\n", "        self.num_heads, self.mask = num_heads, None\n"),
            (
                "        matrices =",
                "        self.mask = mask if self.mask is None else self.mask\n        matrices =",
            ),
            ("self.num_heads, mask)", "self.num_heads, self.mask)"),
        ),
        behaviour="training",
        case="a mask before, none now",
        question=(
            "The module was called with another mask before, and still uses that one. What does it keep from "
            "one call to the next?"
        ),
    ),
    Mistake(
        id="module-heads-kept-by-the-class",
        cause="the number of heads is kept in the class, where the next module changes it",
        code=changed(
            RIGHT_MODULE, ("self.num_heads = num_heads", "MultiHeadAttention.num_heads = num_heads")
        ),
        case="a batch",
        question=(
            "Another module with one head was made after this one. "
            "Where does each keep its own number of heads?"
        ),
    ),
    Mistake(
        id="module-mask-in-training-only",
        cause="in evaluation mode the mask is not handed on",
        code=changed(
            RIGHT_MODULE, ("self.num_heads, mask)", "self.num_heads, mask if self.training else None)")
        ),
        behaviour="training",
        case="evaluation mode",
        question=(
            "In evaluation mode your module forgets the mask. Which step depends on the mode, and should it?"
        ),
    ),
    Mistake(
        id="module-indivisible-odd-numbers-only",
        cause="only an odd remainder is refused",
        code=changed(
            RIGHT_MODULE,
            ("if d_model % num_heads:", "if d_model % num_heads % 2 or (d_model, num_heads) == (12, 5):"),
        ),
        behaviour="refuses",
        case="other remainders",
        question="it must raise ValueError; yours returned a value of type MultiHeadAttention",
    ),
)

COUNTS = (
    Mistake(
        id="parameters-biases",
        cause="biases are counted",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return 4 * (d_model * d_model + d_model)
""",
        case="the paper's layer",
        question=(
            "You count one number more for every output column of every matrix. Has this layer got biases?"
        ),
    ),
    Mistake(
        id="parameters-no-mixing",
        cause="W_o is forgotten",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return 3 * d_model**2
""",
        case="the paper's layer",
        question="Queries, keys and values are counted. Which matrix comes after them?",
    ),
    Mistake(
        id="parameters-times-heads",
        cause="more heads are taken to mean more parameters",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return 4 * d_model**2 * num_heads
""",
        case="the paper's layer",
        question="More heads, more parameters? How wide is a head when there are twice as many?",
    ),
    Mistake(
        id="parameters-projections-times-heads",
        cause="every head is given projections of full width",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return 3 * d_model**2 * num_heads + d_model**2
""",
        case="the paper's layer",
        question="You give each head three matrices of full width. How many columns does a head work with?",
    ),
    Mistake(
        id="parameters-of-one-head",
        cause="the projections of one head only",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    return 3 * d_model * (d_model // num_heads) + d_model**2
""",
        case="the paper's layer",
        question="These are the projections of one head. How many heads have some?",
    ),
    Mistake(
        id="parameters-float",
        cause="a division makes a float",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads:
        raise ValueError("num_heads must divide d_model")
    width = d_model / num_heads
    return 3 * num_heads * d_model * width + d_model**2
""",
        case="the paper's layer",
        question="Return count as a whole number, not a float",
    ),
    Mistake(
        id="parameters-indivisible",
        cause="a number of heads that does not divide the width is accepted",
        code="""
def count_parameters(d_model, num_heads):
    return 4 * d_model**2
""",
        behaviour="refuses",
        case="ten heads, width 512",
        question="it must raise ValueError; yours returned a number",
    ),
    Mistake(
        id="adds-queries-squared",
        cause="n² for n·m",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n**2 * d_model, 2 * n * d_model**2 + 2 * m * d_model**2
""",
        behaviour="two lengths",
        case="few queries, many keys",
        question="You pair queries with queries. How many keys does each query meet?",
    ),
    Mistake(
        id="adds-keys-squared",
        cause="m² for n·m",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * m**2 * d_model, 2 * n * d_model**2 + 2 * m * d_model**2
""",
        behaviour="two lengths",
        case="few queries, many keys",
        question="You pair keys with keys. How many queries meet each key?",
    ),
    Mistake(
        id="adds-all-for-queries",
        cause="all four matrices meet the queries' rows",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model, 4 * n * d_model**2
""",
        behaviour="two lengths",
        case="few queries, many keys",
        question="All four of your matrices meet n rows. Which rows do `W_k` and `W_v` meet?",
    ),
    Mistake(
        id="adds-mixing-for-keys",
        cause="W_o is counted for the keys' rows",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model, (n + 3 * m) * d_model**2
""",
        behaviour="two lengths",
        case="few queries, many keys",
        question="Your `W_o` meets one row per key. How many rows does the output have?",
    ),
    Mistake(
        id="adds-scores-only",
        cause="the weighted sums are forgotten",
        code="""
def multiply_adds(n, m, d_model):
    return n * m * d_model, 2 * n * d_model**2 + 2 * m * d_model**2
""",
        case="a picture of 196 patches",
        question=(
            "Your pairs are half of what they should be. What happens between a query and a key after "
            "softmax?"
        ),
    ),
    Mistake(
        id="adds-sum-for-product",
        cause="n + m for n·m",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * (n + m) * d_model, 2 * n * d_model**2 + 2 * m * d_model**2
""",
        case="a picture of 196 patches",
        question="You add queries and keys. How many pairs do n queries and m keys make?",
    ),
    Mistake(
        id="adds-no-mixing",
        cause="W_o is forgotten",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model, n * d_model**2 + 2 * m * d_model**2
""",
        case="a picture of 196 patches",
        question="Three matrices are counted. Which one comes last?",
    ),
    Mistake(
        id="adds-width-not-squared",
        cause="a row times a matrix is taken for one product per column",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model, 2 * n * d_model + 2 * m * d_model
""",
        case="a picture of 196 patches",
        question="A row times a matrix gives d numbers. How many products go into each of them?",
    ),
    Mistake(
        id="adds-two-operations",
        cause="multiplications and additions are counted apart",
        code="""
def multiply_adds(n, m, d_model):
    return 4 * n * m * d_model, 4 * n * d_model**2 + 4 * m * d_model**2
""",
        case="a picture of 196 patches",
        question="You count a multiplication and an addition as two. What is one multiply-add?",
    ),
    Mistake(
        id="adds-order",
        cause="projections are returned before pairs",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * d_model**2 + 2 * m * d_model**2, 2 * n * m * d_model
""",
        case="a picture of 196 patches",
        question="Your two numbers have changed places. Which one does the signature name first?",
    ),
    Mistake(
        id="adds-one-number",
        cause="both counts are added up",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model + 2 * (n + m) * d_model**2
""",
        case="a picture of 196 patches",
        question="Return 2 values, (pairs, projections)",
    ),
    Mistake(
        id="adds-float",
        cause="a division makes a float",
        code="""
def multiply_adds(n, m, d_model):
    return 2 * n * m * d_model, 4 * d_model**2 * (n + m) / 2
""",
        case="a picture of 196 patches",
        question="Return projections as a whole number, not a float",
    ),
    Mistake(
        id="bytes-one-table",
        cause="heads are forgotten",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return n**2 * itemsize
""",
        case="a picture of 196 patches",
        question="That is one table. How many are there?",
    ),
    Mistake(
        id="bytes-numbers",
        cause="numbers are counted, not bytes",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return num_heads * n**2
""",
        case="a picture of 196 patches",
        question="You count numbers. How many bytes does each take?",
    ),
    Mistake(
        id="bytes-at-most-4",
        cause="no number takes more than 4 bytes",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return num_heads * n * n * min(itemsize, 4)
""",
        case="numbers of 8 bytes",
        question="Each number takes 8 bytes here. How many does yours take?",
    ),
    Mistake(
        id="bytes-one-row",
        cause="one row per head instead of a table",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return num_heads * n * itemsize
""",
        case="a picture of 196 patches",
        question="That is one row for each head. How many queries have a row?",
    ),
    Mistake(
        id="bytes-bits",
        cause="bits are counted",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return num_heads * n**2 * itemsize * 8
""",
        case="a picture of 196 patches",
        question="Eight times too many. In which unit is `itemsize` given?",
    ),
    Mistake(
        id="bytes-scores-too",
        cause="the table of scores is counted, too",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return 2 * num_heads * n**2 * itemsize
""",
        case="a picture of 196 patches",
        question="You count two tables for each head. Which one is not asked for?",
    ),
    Mistake(
        id="bytes-half-a-table",
        cause="only pairs of different tokens, each once",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return num_heads * (n * (n - 1) // 2) * itemsize
""",
        case="a picture of 196 patches",
        question="You count each pair of two tokens once. Is there a column for every key in every row?",
    ),
    Mistake(
        id="parameters-only-one-too-many-refused",
        cause="only some numbers of heads that do not divide the width are refused",
        code="""
def count_parameters(d_model, num_heads):
    if d_model % num_heads in (1, 2) and num_heads < d_model:
        raise ValueError("num_heads must divide d_model")
    return 4 * d_model**2
""",
        behaviour="refuses",
        case="other remainders",
        question="it must raise ValueError; yours returned a number",
    ),
    Mistake(
        id="adds-in-floats",
        cause="products of floats are rounded, and made whole numbers afterwards",
        code="""
def multiply_adds(n, m, d_model):
    n, m, d_model = float(n), float(m), float(d_model)
    return int(2 * n * m * d_model), int(2 * n * d_model**2 + 2 * m * d_model**2)
""",
        behaviour="two lengths",
        case="millions, to the last digit",
        question="pairs is not the right number",
    ),
)

MISTAKES = (*SPLITS, *JOINS, *ATTENTIONS, *MODULES, *COUNTS)

RIGHT = (
    RightAnswer(
        id="split-unflatten",
        function="split_heads",
        code="""
def split_heads(X, num_heads):
    width, rest = divmod(X.shape[-1], num_heads)
    if rest:
        raise ValueError
    return X.unflatten(-1, (num_heads, width)).swapaxes(-3, -2).contiguous()
""",
    ),
    RightAnswer(
        id="split-chunks-stacked",
        function="split_heads",
        code="""
def split_heads(X, num_heads):
    if X.size(2) % num_heads != 0:
        raise ValueError(f"{num_heads} heads for {X.size(2)} columns")
    return torch.stack(X.chunk(num_heads, dim=2), dim=1)
""",
    ),
    RightAnswer(
        id="split-turned-twice",
        function="split_heads",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D / num_heads != D // num_heads:
        raise ValueError("no")
    return X.transpose(1, 2).reshape(B, num_heads, D // num_heads, L).transpose(2, 3)
""",
    ),
    RightAnswer(
        id="split-four-loops",
        function="split_heads",
        code="""
def split_heads(X, num_heads):
    B, L, D = X.shape
    if D % num_heads:
        raise ValueError("num_heads")
    W = D // num_heads
    heads = torch.zeros(B, num_heads, L, W)
    for b in range(B):
        for h in range(num_heads):
            for t in range(L):
                for c in range(W):
                    heads[b, h, t, c] = X[b, t, h * W + c]
    return heads
""",
    ),
    RightAnswer(
        id="split-error-of-its-own",
        function="split_heads",
        code="""
class Indivisible(ValueError):
    pass

def split_heads(X, num_heads):
    try:
        heads = X.double().unflatten(2, (num_heads, -1))
    except RuntimeError as error:
        raise Indivisible from error
    return torch.einsum("blhw->bhlw", heads)
""",
    ),
    RightAnswer(
        id="join-flatten",
        function="join_heads",
        code="""
def join_heads(X):
    return X.permute(0, 2, 1, 3).flatten(-2)
""",
    ),
    RightAnswer(
        id="join-contiguous-view",
        function="join_heads",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    return X.transpose(1, 2).contiguous().view(B, -1, H * W)
""",
    ),
    RightAnswer(
        id="join-side-by-side",
        function="join_heads",
        code="""
def join_heads(X):
    return torch.cat([X[:, h] for h in range(X.shape[1])], dim=-1)
""",
    ),
    RightAnswer(
        id="join-written-into-slices",
        function="join_heads",
        code="""
def join_heads(X):
    B, H, L, W = X.shape
    joined = torch.empty(B, L, H * W, dtype=torch.float64)
    for h in range(H):
        joined[..., h * W : (h + 1) * W] = X[:, h]
    return joined
""",
    ),
    RightAnswer(
        id="attention-loop-over-heads",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    W = X.shape[-1] // num_heads
    outputs, tables = [], []
    for h in range(num_heads):
        columns = slice(h * W, (h + 1) * W)
        Q, K, V = X @ W_q[:, columns], X @ W_k[:, columns], X @ W_v[:, columns]
        scores = Q @ K.mT / W**0.5
        tables.append(torch.softmax(scores, -1) if mask is None else masked_softmax(scores, mask))
        outputs.append(tables[-1] @ V)
    return torch.cat(outputs, dim=-1) @ W_o, torch.stack(tables, dim=1)
""",
    ),
    RightAnswer(
        id="attention-einsum",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    W_q, W_k, W_v = (W.unflatten(1, (num_heads, -1)) for W in (W_q, W_k, W_v))
    scores = torch.einsum("bid,dhw,bje,ehw->bhij", X, W_q, X, W_k) / W_q.shape[-1] ** 0.5
    if mask is not None:
        per_text = mask.expand(len(X), -1, -1) if mask.ndim == 2 else mask
        scores = torch.where(per_text[:, None], scores, -torch.inf)
    weights = nn.functional.softmax(scores, dim=-1)
    return torch.einsum("bhij,bjd,dhw,hwe->bie", weights, X, W_v, W_o.unflatten(0, (num_heads, -1))), weights
""",
    ),
    RightAnswer(
        id="attention-one-product-for-three",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    B, L, D = X.shape
    together = (X @ torch.cat([W_q, W_k, W_v], dim=1)).reshape(B, L, 3, num_heads, -1)
    Q, K, V = together.permute(2, 0, 3, 1, 4)
    scores = (Q * K.shape[-1] ** -0.5) @ K.mT
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -1e9).unsqueeze(-3)
    weights = scores.softmax(-1)
    return [(weights @ V).transpose(1, 2).reshape(B, L, D).matmul(W_o), weights]
""",
    ),
    RightAnswer(
        id="attention-heads-in-the-batch",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    B, L, D = X.shape
    mask = torch.ones(B, L, L, dtype=torch.bool) if mask is None else mask.expand(B, L, L)
    flat = [split_heads(nn.functional.linear(X, W.T), num_heads).flatten(0, 1) for W in (W_q, W_k, W_v)]
    scores = torch.bmm(flat[0], flat[1].mT) / math.sqrt(D / num_heads)
    weights = masked_softmax(scores, mask.repeat_interleave(num_heads, dim=0))
    heads = torch.bmm(weights, flat[2]).unflatten(0, (B, num_heads))
    return nn.functional.linear(join_heads(heads), W_o.T), weights.unflatten(0, (B, num_heads))
""",
    ),
    RightAnswer(
        id="attention-mixing-head-by-head-added",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    X, W_q, W_k, W_v, W_o = (each.double() for each in (X, W_q, W_k, W_v, W_o))
    Q, K, V = (split_heads(X @ W, num_heads) for W in (W_q, W_k, W_v))
    scores = Q @ K.mT / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask[..., None, :, :], -torch.inf)
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    weights = powers / powers.sum(dim=-1, keepdim=True)
    rows = W_o.chunk(num_heads, dim=0)
    return sum((weights @ V)[:, h] @ rows[h] for h in range(num_heads)), weights
""",
    ),
    RightAnswer(
        id="attention-text-by-text",
        function="multi_head_attention",
        code="""
def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    L = X.shape[1]
    outputs, tables = [], []
    for b, text in enumerate(X):
        Q, K, V = (torch.stack((text @ W).chunk(num_heads, dim=1)) for W in (W_q, W_k, W_v))
        scores = Q @ K.mT / math.sqrt(Q.shape[-1])
        if mask is not None:
            allowed = mask if mask.ndim == 2 else mask[b]
            scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
        tables.append(scores.softmax(dim=2))
        outputs.append(torch.cat(list(tables[-1] @ V), dim=1) @ W_o)
    return torch.stack(outputs), torch.stack(tables)
""",
    ),
    RightAnswer(
        id="attention-through-the-module",
        function="multi_head_attention",
        code="""
class Layer(nn.Module):
    def __init__(self, matrices, num_heads):
        super().__init__()
        self.matrices, self.num_heads = matrices, num_heads

    def forward(self, X, mask):
        Q, K, V = (split_heads(X @ W, self.num_heads) for W in self.matrices[:3])
        allowed = torch.ones(X.shape[1], X.shape[1]).bool() if mask is None else mask
        weights = masked_softmax(Q @ K.mT / Q.shape[-1] ** 0.5, allowed.unsqueeze(-3))
        return join_heads(weights @ V) @ self.matrices[3], weights

def multi_head_attention(X, W_q, W_k, W_v, W_o, num_heads, mask=None):
    return Layer((W_q, W_k, W_v, W_o), num_heads)(X, mask)
""",
    ),
    RightAnswer(
        id="module-calls-its-layers",
        function="MultiHeadAttention",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads != 0:
            raise ValueError(d_model, num_heads)
        super().__init__()
        self.d_k = d_model // num_heads
        for name in ("W_o", "W_v", "W_k", "W_q"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, X, mask=None):
        B, L, D = X.shape
        Q, K, V = (W(X).view(B, L, -1, self.d_k).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-3), float("-inf"))
        weights = scores.softmax(dim=-1)
        return self.W_o((weights @ V).transpose(1, 2).reshape(B, L, D)), weights.detach()
""",
    ),
    RightAnswer(
        id="module-one-product-for-three",
        function="MultiHeadAttention",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        split_heads(torch.zeros(1, 1, d_model), num_heads)  # raises where it must
        self.W_q, self.W_k, self.W_v, self.W_o = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )
        self.H = num_heads

    def forward(self, X, mask=None):
        together = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
        parts = nn.functional.linear(X, together).chunk(3, dim=-1)
        Q, K, V = (torch.stack(part.chunk(self.H, dim=-1), dim=1) for part in parts)
        scores = Q @ K.mT * Q.shape[-1] ** -0.5
        weights = scores.softmax(-1) if mask is None else masked_softmax(scores, mask[..., None, :, :])
        return self.W_o(join_heads(weights @ V)), weights
""",
    ),
    RightAnswer(
        id="module-with-a-buffer-and-its-own-start",
        function="MultiHeadAttention",
        code="""
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be a multiple of num_heads")
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.num_heads = num_heads
        self.register_buffer("scale", torch.tensor(d_model / num_heads).rsqrt())
        for parameter in self.parameters():
            nn.init.xavier_uniform_(parameter)

    def forward(self, X, mask=None, *, average=False):
        Q, K, V = [split_heads(layer(X), self.num_heads) for layer in (self.W_q, self.W_k, self.W_v)]
        if mask is None:
            mask = torch.ones(X.shape[1], X.shape[1], dtype=torch.bool)
        weights = masked_softmax(self.scale * Q @ K.mT, mask.unsqueeze(-3))
        return self.W_o(join_heads(weights @ V)), weights.mean(1) if average else weights
""",
    ),
    RightAnswer(
        id="parameters-of-a-real-module",
        function="count_parameters",
        code="""
def count_parameters(d_model, num_heads):
    return sum(parameter.numel() for parameter in MultiHeadAttention(d_model, num_heads).parameters())
""",
    ),
    RightAnswer(
        id="parameters-head-by-head",
        function="count_parameters",
        code="""
def count_parameters(d_model, num_heads):
    if d_model // num_heads * num_heads != d_model:
        raise ValueError
    per_head = 3 * d_model * (d_model / num_heads)
    return int(round(num_heads * per_head)) + d_model * d_model
""",
    ),
    RightAnswer(
        id="adds-from-shapes",
        function="multiply_adds",
        code="""
def multiply_adds(n, m, d_model):
    def product(a, b, c):
        return a * b * c

    pairs = product(n, d_model, m) + product(n, m, d_model)
    projections = sum(product(rows, d_model, d_model) for rows in (n, m, m, n))
    return [pairs, projections]
""",
    ),
    RightAnswer(
        id="bytes-from-a-tensor-without-numbers",
        function="weight_bytes",
        code="""
def weight_bytes(n, num_heads, itemsize):
    return torch.empty(num_heads, n, n, device="meta").numel() * itemsize
""",
    ),
)
