"""Assignment 07: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, changed, versions

RIGHT_SWAP = """
def swap_tokens(ids, first, second):
    swapped = list(ids) if isinstance(ids, list) else ids.clone()
    if isinstance(ids, list):
        swapped[first], swapped[second] = ids[second], ids[first]
    else:
        swapped[..., first], swapped[..., second] = ids[..., second], ids[..., first]
    return swapped
"""
RIGHT_FOURIER = """
def fourier_features(positions, width):
    if width % 2:
        raise ValueError("width must be even")
    speeds = 10000 ** (torch.arange(0, width, 2) / width)
    angles = positions[:, None] / speeds
    features = torch.zeros(len(positions), width)
    features[:, 0::2] = torch.sin(angles)
    features[:, 1::2] = torch.cos(angles)
    return features
"""
RIGHT_RECENT = """
def more_recent_layer(colour_ids, vocabulary_size, max_length):
    step = 10.0
    token_embedding = torch.zeros(vocabulary_size, 3)
    token_embedding[:, 0] = 1.0
    token_embedding[colour_ids, 1] = 1.0
    position_embedding = torch.zeros(max_length, 3)
    position_embedding[:, 2] = torch.arange(max_length)
    W_q = torch.tensor([[1.0], [0.0], [0.0]])
    W_k = torch.tensor([[0.0], [step * max_length], [step]])
    W_v = torch.eye(3)
    return token_embedding, position_embedding, W_q, W_k, W_v
"""
RIGHT_LAYERS = """
def two_layer_attention(X, layers, mask=None):
    all_weights = []
    for W_q, W_k, W_v in layers:
        output, weights = masked_attention(X @ W_q, X @ W_k, X @ W_v, mask)
        X = X + output
        all_weights.append(weights)
    return X, all_weights
"""
OWN_SOFTMAX = """
def two_layer_attention(X, layers, mask=None):
    all_weights = []
    for W_q, W_k, W_v in layers:
        scores = (X @ W_q) @ (X @ W_k).mT / math.sqrt(W_q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        X = X + weights @ (X @ W_v)
        all_weights.append(weights)
    return X, all_weights
"""
RIGHT_BLOCK = """
class TransformerBlock(nn.Module):
    def __init__(self, attention, d_model, d_hidden):
        super().__init__()
        self.attention = attention
        self.ln1 = nn.LayerNorm(d_model)
        self.ln2 = nn.LayerNorm(d_model)
        self.W1 = nn.Linear(d_model, d_hidden)
        self.W2 = nn.Linear(d_hidden, d_model)

    def forward(self, X):
        X = X + self.attention(self.ln1(X))
        X = X + self.W2(torch.relu(self.W1(self.ln2(X))))
        return X
"""
FIRST_STEP = "X = X + self.attention(self.ln1(X))"
SECOND_STEP = "X = X + self.W2(torch.relu(self.W1(self.ln2(X))))"


SWAPS = (
    Mistake(
        id="swap-in-place",
        cause="the input itself is changed",
        code="""
def swap_tokens(ids, first, second):
    if isinstance(ids, list):
        ids[first], ids[second] = ids[second], ids[first]
    else:
        ids[..., [first, second]] = ids[..., [second, first]]
    return ids
""",
        behaviour="any input",
        case="one place twice",
        question="Where is the step that makes a new one?",
    ),
    Mistake(
        id="swap-nothing-to-do",
        cause="where both positions are equal the given object goes back",
        code=changed(
            RIGHT_SWAP, ("    swapped = ", "    if first == second:\n        return ids\n    swapped = ")
        ),
        behaviour="any input",
        case="one place of a list twice",
        question="What comes back is the given object",
    ),
    Mistake(
        id="swap-values",
        cause="two ids change places wherever they stand",
        code="""
def swap_tokens(ids, first, second):
    if isinstance(ids, list):
        one, other = ids[first], ids[second]
        return [other if each == one else one if each == other else each for each in ids]
    one, other = ids[..., first, None], ids[..., second, None]
    return torch.where(ids == one, other, torch.where(ids == other, one, ids))
""",
        case="colours",
        question="More than two positions have changed. Do two positions change places, or two ids?",
    ),
    Mistake(
        id="swap-lists-only",
        cause="whatever comes is made a list",
        code="""
def swap_tokens(ids, first, second):
    swapped = list(ids)
    swapped[first], swapped[second] = ids[second], ids[first]
    return swapped
""",
        behaviour="any input",
        case="a tensor",
        question="The ids come as a tensor and must go back as one",
    ),
    Mistake(
        id="swap-tensors-only",
        cause="only tensors are thought of",
        code="""
def swap_tokens(ids, first, second):
    swapped = ids.clone()
    swapped[..., first], swapped[..., second] = ids[..., second], ids[..., first]
    return swapped
""",
        case="colours",
        question="A list has no `clone`. How do you copy a list, and how do you tell what has come?",
    ),
    Mistake(
        id="swap-list-becomes-tensor",
        cause="a list is turned into a tensor and stays one",
        code="""
def swap_tokens(ids, first, second):
    ids = torch.as_tensor(ids)
    swapped = ids.clone()
    swapped[..., first], swapped[..., second] = ids[..., second], ids[..., first]
    return swapped
""",
        case="colours",
        question="The ids come as a list and must go back as one",
    ),
    Mistake(
        id="swap-first-axis",
        cause="positions count along the first axis, which are texts in a batch",
        code=changed(
            RIGHT_SWAP,
            (
                "swapped[..., first], swapped[..., second] = ids[..., second], ids[..., first]",
                "swapped[first], swapped[second] = ids[second], ids[first]",
            ),
        ),
        behaviour="any input",
        case="a batch, as many texts as tokens",
        question="In yours, positions count the texts of a batch. On which axis of (..., L) do they lie?",
    ),
    Mistake(
        id="swap-views",
        cause="what is read is a view of the copy, which the first writing has changed already",
        code=changed(
            RIGHT_SWAP,
            ("= ids[..., second], ids[..., first]", "= swapped[..., second], swapped[..., first]"),
        ),
        behaviour="any input",
        case="a tensor",
        question=(
            "The same id stands at both positions now. When the second number is written, what does a view "
            "of your copy show at the first?"
        ),
    ),
    Mistake(
        id="swap-one-way",
        cause="one position is overwritten before it is read",
        code="""
def swap_tokens(ids, first, second):
    swapped = list(ids) if isinstance(ids, list) else ids.clone()
    where = (lambda place: place) if isinstance(ids, list) else (lambda place: (..., place))
    swapped[where(first)] = swapped[where(second)]
    swapped[where(second)] = swapped[where(first)]
    return swapped
""",
        case="colours",
        question="One of the two ids is lost. What does the second line read, once the first has written?",
    ),
)

FOURIERS = (
    Mistake(
        id="fourier-blocks",
        cause="all sines, then all cosines",
        code=changed(
            RIGHT_FOURIER,
            ("features[:, 0::2]", "features[:, : width // 2]"),
            ("features[:, 1::2]", "features[:, width // 2 :]"),
        ),
        case="width 4",
        question="Your sines stand side by side, and the cosines behind them. Which columns make up pair 0?",
    ),
    Mistake(
        id="fourier-exponent-half",
        cause="the exponent is i / width instead of 2i / width",
        code=changed(
            RIGHT_FOURIER, ("torch.arange(0, width, 2) / width", "torch.arange(width // 2) / width")
        ),
        case="width 4",
        question="Your exponent grows half as fast as the formula's. What stands in front of i?",
    ),
    Mistake(
        id="fourier-exponent-of-the-column",
        cause="each column has a speed of its own",
        code="""
def fourier_features(positions, width):
    if width % 2:
        raise ValueError("width must be even")
    angles = positions[:, None] / 10000 ** (torch.arange(width) / width)
    return torch.where(torch.arange(width) % 2 == 0, angles.sin(), angles.cos())
""",
        case="width 4",
        question="The two columns of a pair turn at different speeds. Which i do columns 2 and 3 share?",
    ),
    Mistake(
        id="fourier-exponent-doubled",
        cause="the numbers 2i are doubled once more",
        code=changed(
            RIGHT_FOURIER, ("torch.arange(0, width, 2) / width", "2 * torch.arange(0, width, 2) / width")
        ),
        case="width 4",
        question="Your exponent grows twice as fast as the formula's. Is your counter i, or 2i already?",
    ),
    Mistake(
        id="fourier-base-1000",
        cause="the base is 1000",
        code=Edit(RIGHT_FOURIER, "10000", "1000"),
        case="width 4",
        question="All pairs but the first turn too fast. Count the zeros of the base.",
    ),
    Mistake(
        id="fourier-multiplied",
        cause="positions are multiplied by the power",
        code=changed(RIGHT_FOURIER, ("positions[:, None] / speeds", "positions[:, None] * speeds")),
        case="width 4",
        question="Later pairs turn faster and faster in yours. Is the position multiplied or divided?",
    ),
    Mistake(
        id="fourier-cosine-first",
        cause="sine and cosine have changed places",
        code=Edit(
            RIGHT_FOURIER,
            "features[:, 0::2] = torch.sin(angles)\n    features[:, 1::2] = torch.cos(angles)",
            "features[:, 0::2] = torch.cos(angles)\n    features[:, 1::2] = torch.sin(angles)",
        ),
        case="width 4",
        question="Position 0 should begin with the sine of 0. With what does yours begin?",
    ),
    Mistake(
        id="fourier-from-1",
        cause="one is added to every position",
        code=Edit(RIGHT_FOURIER, "positions[:, None]", "(positions[:, None] + 1)"),
        case="width 4",
        question="Your rows are those of the positions after. From which number do positions count?",
    ),
    Mistake(
        id="fourier-floor",
        cause="floor division",
        code=changed(RIGHT_FOURIER, ("positions[:, None] / speeds", "positions[:, None] // speeds")),
        case="width 4",
        question="Your angles are whole numbers. Which of Python's two divisions cuts off the rest?",
    ),
    Mistake(
        id="fourier-turned",
        cause="positions lie along the columns",
        code=Edit(RIGHT_FOURIER, "return features", "return features.T"),
        case="width 4",
        question="Your table is turned: positions are its columns. What are rows in this course?",
    ),
    Mistake(
        id="fourier-float16",
        cause="half precision",
        code=changed(RIGHT_FOURIER, ("return features", "return features.half()")),
        case="width 4",
        question="Your numbers are right to three digits only. Which type holds them?",
    ),
    Mistake(
        id="fourier-position-not-used",
        cause="positions are taken to be 0, 1, 2, ...",
        code=changed(RIGHT_FOURIER, ("positions[:, None]", "torch.arange(len(positions))[:, None]")),
        behaviour="any input",
        case="any order",
        question="Your rows are those of positions 0, 1, 2 and so on. Which positions were asked for?",
    ),
    Mistake(
        id="fourier-whole-positions",
        cause="positions are made whole numbers",
        code=changed(RIGHT_FOURIER, ("positions[:, None]", "positions.long()[:, None]")),
        behaviour="any input",
        case="positions between tokens",
        question="A position between two tokens gets the row of a token. Where does its fraction get lost?",
    ),
    Mistake(
        id="fourier-odd-width",
        cause="an odd width is accepted, and one sine has no cosine",
        code="""
def fourier_features(positions, width):
    columns = []
    for i in range((width + 1) // 2):
        angles = positions / 10000 ** (2 * i / width)
        columns += [angles.sin(), angles.cos()]
    return torch.stack(columns[:width], dim=1)
""",
        behaviour="refuses",
        case="width 5",
        question="it must raise ValueError; yours returned a PyTorch tensor",
    ),
    Mistake(
        id="fourier-assert",
        cause="an assert instead of a ValueError",
        code=changed(
            RIGHT_FOURIER,
            (
                'if width % 2:\n        raise ValueError("width must be even")',
                'assert width % 2 == 0, "width must be even"',
            ),
        ),
        behaviour="refuses",
        case="width 5",
        question="You look at the right thing. Which kind of error does the statement ask for?",
    ),
)

RECENTS = (
    Mistake(
        id="recent-sorted-in-place",
        cause="the caller's list of colours is sorted",
        code=changed(RIGHT_RECENT, ("    step = 10.0", "    colour_ids.sort()\n    step = 10.0")),
        behaviour="long texts",
        case="forty tokens",
        question="Your function changes its input colour_ids",
    ),
    Mistake(
        id="recent-id-0-has-no-query",
        cause="the token of id 0 is taken for padding and has no query",
        code=changed(RIGHT_RECENT, ("[:, 0] = 1.0", "[1:, 0] = 1.0")),
        case="every last token",
        question="This text ends with the token of id 0, and all weights are alike. Which query has it?",
    ),
    Mistake(
        id="recent-earlier",
        cause="the score falls with the position instead of growing",
        code=changed(RIGHT_RECENT, ("[step]]", "[-step]]")),
        case="twelve tokens",
        question="Your scores fall with the position of the key. Which sign must a step have?",
    ),
    Mistake(
        id="recent-tie",
        cause="the position does not enter the key",
        code=changed(RIGHT_RECENT, ("[step]]", "[0.0]]")),
        case="twelve tokens",
        question="Is there anything in your scores that depends on the position of the key?",
    ),
    Mistake(
        id="recent-any-token",
        cause="a late token that is no colour scores more than an early colour",
        code=changed(RIGHT_RECENT, ("step * max_length", "step")),
        case="twelve tokens",
        question="Which scores more in yours: any token at the last position, or a colour at the first?",
    ),
    Mistake(
        id="recent-query-of-colours",
        cause="only colours have a query, and the token that asks is none",
        code=changed(RIGHT_RECENT, ("[[1.0], [0.0], [0.0]]", "[[0.0], [1.0], [0.0]]")),
        case="twelve tokens",
        question=(
            "Every score is 0 in yours, as the query is. Which token asks, and what is in its row of the "
            "column that `W_q` reads?"
        ),
    ),
    Mistake(
        id="recent-too-soft",
        cause="one step of the position is worth too little for neighbours",
        code=changed(RIGHT_RECENT, ("step = 10.0", "step = 1.0")),
        case="twelve tokens",
        question=(
            "By how much does one step of the position raise a score? And which lead gives a weight of 0.99?"
        ),
    ),
    Mistake(
        id="recent-decays-too-slowly",
        cause="the whole text shares one lead, so that a step is worth less the longer the text may be",
        code=changed(RIGHT_RECENT, ("step = 10.0", "step = 100.0 / max_length")),
        behaviour="long texts",
        case="forty tokens",
        question=(
            "Neighbours get too close when max_length grows. By how much does one step raise a score, and "
            "does that depend on the length?"
        ),
    ),
    Mistake(
        id="recent-lead-of-another-size",
        cause="the lead of a colour grows with the vocabulary, not with the step",
        code=changed(RIGHT_RECENT, ("step * max_length", "vocabulary_size * max_length")),
        case="four places, four tokens",
        question=(
            "A late token that is no colour comes too near in a small vocabulary. How many steps must a "
            "colour be worth, and does the size of the vocabulary have to do with it?"
        ),
    ),
    Mistake(
        id="recent-slow-clock",
        cause="a point on a circle that turns once round before the text ends, so the score rises again",
        code="""
def more_recent_layer(colour_ids, vocabulary_size, max_length):
    angles = 2 * math.pi / 16 * torch.arange(max_length)
    token_embedding = torch.zeros(vocabulary_size, 3)
    token_embedding[:, 0] = -1.0
    token_embedding[colour_ids, 0] = 0.0
    position_embedding = torch.stack([torch.zeros(max_length), angles.cos(), angles.sin()], dim=1)
    W_q = torch.diag(torch.tensor([-1.0, 1.0, 1.0]))
    W_k = torch.diag(torch.tensor([1e6, 1000.0, 1000.0]))
    return token_embedding, position_embedding, W_q, W_k, torch.eye(3)
""",
        case="twelve tokens",
        question=(
            "Far back the scores rise again in yours. How far may the hand of the clock turn over the "
            "longest text?"
        ),
    ),
    Mistake(
        id="recent-first-ids",
        cause="colours are taken to be the first ids of the vocabulary",
        code=changed(RIGHT_RECENT, ("[colour_ids, 1]", "[: len(colour_ids), 1]")),
        case="other colours",
        question="Your colours are the first ids of the vocabulary. Which argument says which ones they are?",
    ),
    Mistake(
        id="recent-one-row-short",
        cause="one row for a position is missing",
        code=changed(
            RIGHT_RECENT,
            ("torch.zeros(max_length, 3)", "torch.zeros(max_length - 1, 3)"),
            ("torch.arange(max_length)", "torch.arange(max_length - 1)"),
        ),
        case="twelve tokens",
        question="position_embedding must have (12, 3); yours has (11, 3)",
    ),
    Mistake(
        id="recent-infinity",
        cause="infinity where a large number would do, and infinity times zero is not a number",
        code=changed(RIGHT_RECENT, ("[step * max_length]", "[math.inf]")),
        case="twelve tokens",
        question="W_k must hold finite numbers only",
    ),
    Mistake(
        id="recent-whole-numbers",
        cause="a tensor of whole numbers",
        code=changed(RIGHT_RECENT, ("position_embedding, W_q", "position_embedding.long(), W_q")),
        case="twelve tokens",
        question="position_embedding must be a tensor of floats; yours is a torch.int64",
    ),
    Mistake(
        id="recent-four-tensors",
        cause="the values' matrix is left out",
        code=changed(RIGHT_RECENT, ("W_q, W_k, W_v\n", "W_q, W_k\n")),
        case="twelve tokens",
        question="Return five tensors",
    ),
)

LAYERED = (
    Mistake(
        id="layers-second-from-the-input",
        cause="the second layer attends over the input again",
        code=changed(
            RIGHT_LAYERS,
            ("    all_weights = []\n", "    all_weights, rows = [], X\n"),
            ("X @ W_q, X @ W_k, X @ W_v", "rows @ W_q, rows @ W_k, rows @ W_v"),
        ),
        case="one text",
        question="Your second weights are made from the input again. Which rows has the first layer left?",
    ),
    Mistake(
        id="layers-no-residual",
        cause="the rows are replaced by the output",
        code=Edit(RIGHT_LAYERS, "X = X + output", "X = output"),
        case="one text",
        question="Your rows are replaced by what attention gives. What does the formula do with the old?",
    ),
    Mistake(
        id="layers-residual-at-the-end",
        cause="the input is added once, at the end",
        code=changed(
            RIGHT_LAYERS,
            ("    all_weights = []\n", "    all_weights, start = [], X\n"),
            ("X = X + output", "X = output"),
            ("return X,", "return start + X,"),
        ),
        case="one text",
        question="Only the input is added, and only at the end. What is added after the first layer?",
    ),
    Mistake(
        id="layers-residual-first-only",
        cause="the second layer's output is not added to its rows",
        code=changed(RIGHT_LAYERS, ("X = X + output", "X = output if all_weights else X + output")),
        case="one text",
        question="Your output is the second layer's attention alone. What is it added to?",
    ),
    Mistake(
        id="layers-residual-from-the-input",
        cause="both layers add to the input",
        code=changed(
            RIGHT_LAYERS,
            ("    all_weights = []\n", "    all_weights, start = [], X\n"),
            ("X = X + output", "X = start + output"),
        ),
        case="one text",
        question="Your second layer adds to the input, not to the rows after the first. What gets lost?",
    ),
    Mistake(
        id="layers-same-twice",
        cause="the first layer runs twice",
        code=changed(RIGHT_LAYERS, ("in layers:", "in [layers[0]] * 2:")),
        case="one text",
        question="Your second layer has the matrices of the first. Which triple do you never use?",
    ),
    Mistake(
        id="layers-order",
        cause="the second layer runs first",
        code=Edit(RIGHT_LAYERS, "in layers:", "in layers[::-1]:"),
        case="one text",
        question="Your first weights come from the matrices of the last layer. Which layer reads the input?",
    ),
    Mistake(
        id="layers-not-scaled",
        cause="scores are not divided by the root of the key width",
        code=Edit(RIGHT_LAYERS, "X @ W_q", "X @ W_q * W_q.shape[1] ** 0.5"),
        case="one text",
        question="Your scores go into softmax as they are. By what are they divided?",
    ),
    Mistake(
        id="layers-matrices-turned",
        cause="the values' matrix is used as nn.Linear stores it",
        code=Edit(RIGHT_LAYERS, "X @ W_v", "X @ W_v.T"),
        case="one text",
        question="Your values come from a turned matrix. How is `W_v` used here?",
    ),
    Mistake(
        id="layers-normalised",
        cause="rows are normalised between the layers",
        code=changed(
            RIGHT_LAYERS, ("X = X + output", "X = nn.functional.layer_norm(X + output, X.shape[-1:])")
        ),
        case="one text",
        question="Your rows have mean 0 after each layer. Which step does that, and is it in the formula?",
    ),
    Mistake(
        id="layers-last-weights",
        cause="the weights of the last layer alone are returned",
        code=changed(RIGHT_LAYERS, ("return X, all_weights", "return X, weights")),
        case="one text",
        question="The second value must be a list with the weights of both layers",
    ),
    Mistake(
        id="layers-weights-first",
        cause="the weights are returned before the output",
        code=changed(RIGHT_LAYERS, ("return X, all_weights", "return all_weights, X")),
        case="one text",
        question="The second value must be a list with the weights of both layers",
    ),
    Mistake(
        id="layers-mask-first-only",
        cause="the mask holds in the first layer only",
        code=changed(RIGHT_LAYERS, ("mask)", "None if all_weights else mask)")),
        behaviour="any input",
        case="a causal mask",
        question="Your second layer sees what the mask hides. Where does it get its mask?",
    ),
    Mistake(
        id="layers-mask-second-only",
        cause="the mask holds in the second layer only",
        code=changed(RIGHT_LAYERS, ("mask)", "mask if all_weights else None)")),
        behaviour="any input",
        case="a causal mask",
        question="Your first layer sees what the mask hides. Can the second layer still forget it?",
    ),
    Mistake(
        id="layers-mask-ignored",
        cause="the mask is not used",
        code=changed(RIGHT_LAYERS, ("X @ W_v, mask)", "X @ W_v)")),
        behaviour="any input",
        case="a causal mask",
        question="Your weights are those without a mask, in both layers. Where does `mask` come in?",
    ),
    Mistake(
        id="layers-in-place",
        cause="the output is added to the caller's tensor",
        code=changed(RIGHT_LAYERS, ("X = X + output", "X += output")),
        behaviour="any input",
        case="one token",
        question="Your function changes its input X",
    ),
    Mistake(
        id="layers-mask-with-diagonal",
        cause="every token may attend to itself, whatever the mask says",
        code=changed(RIGHT_LAYERS, ("W_v, mask)", "W_v, own(mask, X))"))
        + """

def own(mask, X):
    return None if mask is None else mask | torch.eye(X.shape[-2], dtype=torch.bool)
""",
        function="two_layer_attention",
        behaviour="any input",
        case="a mask for each text",
        question="In your weights every token attends to itself. Does this mask allow that?",
    ),
    Mistake(
        id="layers-masks-flattened",
        cause="axes in front of a mask are made one",
        code=changed(
            RIGHT_LAYERS,
            (
                "    for W_q",
                "    if mask is not None and mask.dim() > 3:\n"
                "        mask = mask.reshape(-1, *mask.shape[-2:])\n"
                "    for W_q",
            ),
        ),
        behaviour="any input",
        case="other masks",
        question="This mask has as many axes as the weights. Why should it lose one?",
    ),
    *versions(
        "layers-small-constant",
        {
            str(constant): (
                OWN_SOFTMAX.replace("-torch.inf", str(constant)),
                "large scores behind a mask",
                "Here a row's allowed scores lie below your constant. Which number is below every score?",
            )
            for constant in (-20.0, -1e4)
        },
        cause="hidden scores become a constant that is not small enough",
        behaviour="any input",
    ),
    Mistake(
        id="layers-exp-overflows",
        cause="exp of scores without taking the largest off",
        code=OWN_SOFTMAX.replace(
            "weights = scores.softmax(dim=-1)",
            "weights = scores.exp()\n        weights = weights / weights.sum(dim=-1, keepdim=True)",
        ),
        behaviour="any input",
        case="large scores behind a mask",
        question="Which step can overflow, or divide by 0?",
    ),
)

BLOCKS = (
    Mistake(
        id="block-relu6",
        cause="an activation that ends at 6",
        code=changed(RIGHT_BLOCK, ("torch.relu(", "nn.functional.relu6(")),
        case="large hidden values",
        question="Some hidden values are far above 6 here. How large may the result of relu be?",
    ),
    Mistake(
        id="block-leaky-relu",
        cause="a relu that lets a little of negative values through",
        code=changed(
            RIGHT_BLOCK,
            ("torch.relu(self.W1(self.ln2(X)))", "nn.functional.leaky_relu(self.W1(self.ln2(X)), 1e-4)"),
        ),
        case="two texts",
        question="Your hidden values let a little of what is below 0 through. What does relu do with it?",
    ),
    Mistake(
        id="block-eps",
        cause="another eps in the layer norms than PyTorch's own",
        code=changed(RIGHT_BLOCK, ("nn.LayerNorm(d_model)", "nn.LayerNorm(d_model, eps=1e-12)")),
        case="two texts",
        question="Your numbers are a little off, as if a layer norm divided by less. Has it an option?",
    ),
    Mistake(
        id="block-dropout",
        cause="dropout, which the block does not have",
        code=changed(
            RIGHT_BLOCK,
            ("self.W2(torch", "nn.functional.dropout(self.W2(torch"),
            ("(X))))", "(X)))), 0.1, self.training)"),
        ),
        case="two texts",
        question="Your block gives two different outputs for the same rows",
    ),
    Mistake(
        id="block-relu-in-training-only",
        cause="in evaluation mode relu is left out",
        code=changed(
            RIGHT_BLOCK,
            (SECOND_STEP, SECOND_STEP + " if self.training else X + self.W2(self.W1(self.ln2(X)))"),
        ),
        behaviour="training",
        case="evaluation mode",
        question="In evaluation mode your block has no relu. What may differ between the modes?",
    ),
    Mistake(
        id="block-post-norm",
        cause="normalised after the sum, as in the first Transformer",
        code=changed(
            RIGHT_BLOCK,
            (FIRST_STEP, "X = self.ln1(X + self.attention(X))"),
            (SECOND_STEP, "X = self.ln2(X + self.W2(torch.relu(self.W1(X))))"),
        ),
        case="two texts",
        question="Your block normalises the sums. What does the formula normalise, and is the sum touched?",
    ),
    Mistake(
        id="block-no-norm",
        cause="the layer norms are made and not used",
        code=changed(RIGHT_BLOCK, ("self.ln1(X)", "X"), ("self.ln2(X)", "X")),
        case="two texts",
        question="Your block has two layer norms and uses neither. What does attention get to see?",
    ),
    Mistake(
        id="block-one-norm-twice",
        cause="ln1 is used in both places",
        code=changed(RIGHT_BLOCK, ("self.ln2(X)", "self.ln1(X)")),
        case="two texts",
        question="One of your layer norms does all the work. Which one stands before `W1`?",
    ),
    Mistake(
        id="block-one-norm-shared",
        cause="both names stand for one layer norm",
        code=changed(RIGHT_BLOCK, ("self.ln2 = nn.LayerNorm(d_model)", "self.ln2 = self.ln1")),
        case="two texts",
        question="Its parameters must be W1.bias, W1.weight,",
    ),
    Mistake(
        id="block-norms-exchanged",
        cause="ln2 stands before attention",
        code=changed(
            RIGHT_BLOCK,
            ("self.ln1(X)", "self.ln(X)"),
            ("self.ln2(X)", "self.ln1(X)"),
            ("self.ln(X)", "self.ln2(X)"),
        ),
        case="two texts",
        question="Your two layer norms have changed places. Which one does the formula name first?",
    ),
    Mistake(
        id="block-residual-from-the-normalised",
        cause="the normalised rows are added to, not the rows",
        code=changed(
            RIGHT_BLOCK,
            (FIRST_STEP, "X = self.ln1(X)\n        X = X + self.attention(X)"),
            (SECOND_STEP, "X = self.ln2(X)\n        X = X + self.W2(torch.relu(self.W1(X)))"),
        ),
        case="two texts",
        question="Attention gets the right rows. To which rows is its output added?",
    ),
    Mistake(
        id="block-no-residual",
        cause="nothing is added to the rows",
        code=changed(RIGHT_BLOCK, ("X = X + ", "X = ")),
        case="two texts",
        question="Each step replaces the rows in yours. What happens to a row that attention ignores?",
    ),
    Mistake(
        id="block-residual-first-only",
        cause="the second step is not added",
        code=changed(RIGHT_BLOCK, ("X = X + self.W2", "X = self.W2")),
        case="two texts",
        question="Your output is what `W2` gives, alone. To what is it added?",
    ),
    Mistake(
        id="block-residual-second-only",
        cause="attention's output is not added",
        code=changed(RIGHT_BLOCK, ("X = X + self.attention", "X = self.attention")),
        case="two texts",
        question="Your first step replaces the rows by what attention gives. Where are the rows themselves?",
    ),
    Mistake(
        id="block-residual-from-the-input",
        cause="the second step is added to the block's input",
        code=changed(
            RIGHT_BLOCK,
            (FIRST_STEP, "start = X\n        X = X + self.attention(self.ln1(X))"),
            (SECOND_STEP, "X = start + self.W2(torch.relu(self.W1(self.ln2(X))))"),
        ),
        case="two texts",
        question="What attention found is gone from your output's sum. Which X stands in the second step?",
    ),
    Mistake(
        id="block-parallel",
        cause="both steps read the block's input",
        code=changed(
            RIGHT_BLOCK,
            (FIRST_STEP, "first = self.attention(self.ln1(X))"),
            (SECOND_STEP, "X = X + first + self.W2(torch.relu(self.W1(self.ln2(X))))"),
        ),
        case="two texts",
        question="Both of your steps read the input. Does the second one see what attention has added?",
    ),
    Mistake(
        id="block-feed-forward-first",
        cause="the second step comes first",
        code=changed(RIGHT_BLOCK, (FIRST_STEP, "later"), (SECOND_STEP, FIRST_STEP), ("later", SECOND_STEP)),
        case="two texts",
        question="Your rows pass `W1` and `W2` before they attend. Which step is the first?",
    ),
    Mistake(
        id="block-gelu",
        cause="GELU instead of relu",
        code=changed(RIGHT_BLOCK, ("torch.relu", "nn.functional.gelu")),
        case="two texts",
        question="Your values between `W1` and `W2` are smoothed. Which function does the formula name?",
    ),
    Mistake(
        id="block-no-relu",
        cause="nothing stands between the two linear layers",
        code=changed(RIGHT_BLOCK, ("torch.relu(self.W1(self.ln2(X)))", "self.W1(self.ln2(X))")),
        case="two texts",
        question="`W2` of `W1` is one linear map. What must stand between them so that it is more?",
    ),
    Mistake(
        id="block-relu-last",
        cause="relu after the second linear layer",
        code=changed(
            RIGHT_BLOCK,
            ("self.W2(torch.relu(self.W1(self.ln2(X))))", "torch.relu(self.W2(self.W1(self.ln2(X))))"),
        ),
        case="two texts",
        question="Your second step can only add numbers above 0. After which of the two layers stands relu?",
    ),
    Mistake(
        id="block-relu-first",
        cause="relu before the first linear layer",
        code=changed(
            RIGHT_BLOCK,
            ("self.W2(torch.relu(self.W1(self.ln2(X))))", "self.W2(self.W1(torch.relu(self.ln2(X))))"),
        ),
        case="two texts",
        question="In yours `W1` sees no number below 0. Before or after `W1` stands relu?",
    ),
    Mistake(
        id="block-other-names",
        cause="parameters are named otherwise",
        code=changed(RIGHT_BLOCK, ("self.ln1", "self.norm1"), ("self.ln2", "self.norm2")),
        case="two texts",
        question="Its parameters must be W1.bias, W1.weight,",
    ),
    Mistake(
        id="block-no-bias",
        cause="linear layers without biases",
        code=changed(RIGHT_BLOCK, ("d_hidden)\n        self.W2", "d_hidden, bias=False)\n        self.W2")),
        case="two texts",
        question="Its parameters must be W1.bias, W1.weight,",
    ),
    Mistake(
        id="block-hidden-width",
        cause="d_hidden is not used",
        code=changed(
            RIGHT_BLOCK,
            ("d_hidden)\n        self.W2", "4 * d_model)\n        self.W2"),
            ("nn.Linear(d_hidden,", "nn.Linear(4 * d_model,"),
        ),
        case="two texts",
        question="The parameter W1.weight must have shape",
    ),
    Mistake(
        id="block-attention-in-a-list",
        cause="the attention module is hidden in a list, where PyTorch does not find it",
        code=changed(
            RIGHT_BLOCK, ("= attention\n", "= [attention]\n"), ("self.attention(", "self.attention[0](")
        ),
        case="two texts",
        question="The parameters of the attention module are not among the block's",
    ),
    Mistake(
        id="block-own-attention",
        cause="another attention module than the one that was given",
        code=changed(
            RIGHT_BLOCK,
            ("= attention\n", "= MultiHeadAttention(d_model, 1)\n"),
            ("self.attention(self.ln1(X))", "self.attention(self.ln1(X))[0]"),
        ),
        case="two texts",
        question="The parameters of the attention module are not among the block's",
    ),
    Mistake(
        id="block-first-of-a-pair",
        cause="attention is taken to return a pair, so that only the first text is used",
        code=changed(RIGHT_BLOCK, ("self.attention(self.ln1(X))", "self.attention(self.ln1(X))[0]")),
        case="two texts",
        question="Every text gets what the first text's attention gave. What is `[0]` of one tensor?",
    ),
    Mistake(
        id="block-unpacked-pair",
        cause="the result of attention is unpacked as a pair",
        code=changed(
            RIGHT_BLOCK,
            (FIRST_STEP, "output, _ = self.attention(self.ln1(X))\n        X = X + output"),
        ),
        case="one text",
        question="How many values does the statement say that the attention module returns?",
    ),
    Mistake(
        id="block-mask-passed",
        cause="a mask is handed to the attention module, which has its own",
        code=changed(RIGHT_BLOCK, ("self.attention(self.ln1(X))", "self.attention(self.ln1(X), None)")),
        case="two texts",
        question="Where does the statement say that the mask is?",
    ),
    Mistake(
        id="block-no-super",
        cause="__init__ of nn.Module is not called",
        code=changed(RIGHT_BLOCK, ("        super().__init__()\n", "")),
        case="two texts",
        question="Which line must come first in `__init__` of every module?",
    ),
    Mistake(
        id="block-detached",
        cause="the path around attention is cut off from training",
        code=changed(RIGHT_BLOCK, (FIRST_STEP, "X = X.detach() + self.attention(self.ln1(X))")),
        behaviour="training",
        case="two texts",
        question="Your output is right, and part of the gradient of X is missing. Which path is cut?",
    ),
    Mistake(
        id="block-frozen-attention",
        cause="attention runs without gradients",
        code=changed(
            RIGHT_BLOCK,
            (
                FIRST_STEP,
                "with torch.no_grad():\n            new = self.attention(self.ln1(X))\n        X = X + new",
            ),
        ),
        behaviour="training",
        case="two texts",
        question="No gradient reaches the attention's W_q, the attention's W_k",
    ),
    Mistake(
        id="block-in-place",
        cause="the rows that were given are written to",
        code=changed(RIGHT_BLOCK, (FIRST_STEP, "X += self.attention(self.ln1(X))")),
        behaviour="training",
        case="two texts",
        question="Your block writes to its input X, as `+=` does. How do you make new rows instead?",
    ),
)

MISTAKES = (*SWAPS, *FOURIERS, *RECENTS, *LAYERED, *BLOCKS)

RIGHT = (
    RightAnswer("swap-right-copy", "swap_tokens", RIGHT_SWAP),
    RightAnswer(
        "swap-index-select",
        "swap_tokens",
        """
def swap_tokens(ids, first, second):
    length = len(ids) if isinstance(ids, list) else ids.size(-1)
    order = [second if place == first else first if place == second else place for place in range(length)]
    if isinstance(ids, list):
        return [ids[place] for place in order]
    return ids.index_select(-1, torch.tensor(order))
""",
    ),
    RightAnswer(
        "swap-through-a-tensor",
        "swap_tokens",
        """
def swap_tokens(ids, first, second):
    as_tensor = torch.as_tensor(ids)
    columns = list(as_tensor.unbind(dim=-1))
    columns[first], columns[second] = columns[second], columns[first]
    swapped = torch.stack(columns, dim=-1)
    return swapped.tolist() if isinstance(ids, list) else swapped
""",
    ),
    RightAnswer("fourier-right-columns", "fourier_features", RIGHT_FOURIER),
    RightAnswer(
        "fourier-logarithm",
        "fourier_features",
        """
def fourier_features(positions, width):
    if width % 2 != 0:
        raise ValueError(width)
    speeds = torch.exp(-math.log(10000.0) * torch.arange(0, width, 2).float() / width)
    angles = torch.einsum("p,i->pi", positions.float(), speeds)
    pairs = torch.cat([angles.sin()[..., None], angles.cos()[..., None]], dim=-1)
    return pairs.reshape(len(positions), width)
""",
    ),
    RightAnswer(
        "fourier-phase",
        "fourier_features",
        """
def fourier_features(positions, width):
    if width % 2 == 1:
        raise ValueError(f"odd width {width}")
    column = torch.arange(width, dtype=torch.float64)
    angles = positions.double()[:, None] / 10000.0 ** (2 * (column // 2) / width)
    return torch.sin(angles + math.pi / 2 * (column % 2))
""",
    ),
    RightAnswer(
        "fourier-complex",
        "fourier_features",
        """
def fourier_features(positions, width):
    if width % 2:
        raise ValueError("even")
    angles = positions.double()[:, None] * 10000.0 ** (-2 * torch.arange(width // 2).double() / width)
    circle = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(circle).flip(-1).reshape(len(positions), width).float()
""",
    ),
    RightAnswer(
        "fourier-loops",
        "fourier_features",
        """
def fourier_features(positions, width):
    if width % 2:
        raise ValueError("even")
    rows = []
    for position in positions.tolist():
        row = []
        for i in range(width // 2):
            angle = position / 10000 ** (2 * i / width)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)
""",
    ),
    RightAnswer(
        "recent-clock",
        "more_recent_layer",
        """
def more_recent_layer(colour_ids, vocabulary_size, max_length):
    speed = math.pi / max_length
    angles = speed * torch.arange(max_length, dtype=torch.float64)
    token_embedding = torch.zeros(vocabulary_size, 4, dtype=torch.float64)
    token_embedding[:, 0] = 1.0
    token_embedding[colour_ids, 1] = 1.0
    position_embedding = torch.zeros(max_length, 4, dtype=torch.float64)
    position_embedding[:, 2], position_embedding[:, 3] = angles.cos(), angles.sin()
    sharp = 10.0 / (1 - math.cos(speed))
    W_q, W_k = torch.zeros(4, 3, dtype=torch.float64), torch.zeros(4, 3, dtype=torch.float64)
    W_q[0, 0] = W_q[2, 1] = W_q[3, 2] = math.sqrt(3)
    W_k[1, 0] = 4 * sharp
    W_k[2, 1] = W_k[3, 2] = sharp
    return token_embedding, position_embedding, W_q, W_k, torch.zeros(4, 1, dtype=torch.float64)
""",
    ),
    RightAnswer(
        "recent-one-hot",
        "more_recent_layer",
        """
def more_recent_layer(colour_ids, vocabulary_size, max_length):
    width = vocabulary_size + max_length
    tokens = torch.eye(width)[:vocabulary_size]
    places = torch.eye(width)[vocabulary_size:]
    colours = torch.zeros(vocabulary_size)
    colours[list(colour_ids)] = 1000.0
    W_q = torch.ones(width, 1) / 2
    W_k = torch.cat([colours, 20.0 * torch.arange(max_length)])[:, None]
    return [tokens, places, W_q, W_k, torch.eye(width)[:, :2].requires_grad_()]
""",
    ),
    RightAnswer(
        "recent-penalty",
        "more_recent_layer",
        """
def more_recent_layer(colour_ids, vocabulary_size, max_length):
    tokens = torch.tensor([[0.0 if each in colour_ids else -1e5, 1.0] for each in range(vocabulary_size)])
    places = torch.stack([12.0 * torch.arange(max_length), torch.zeros(max_length)], dim=1)
    W_q = torch.tensor([[0.0, 0.0], [math.sqrt(2), 0.0]])
    W_k = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    return tokens, places, W_q, W_k, torch.eye(2)
""",
    ),
    RightAnswer(
        "layers-recursion",
        "two_layer_attention",
        """
def two_layer_attention(X, layers, mask=None):
    if not layers:
        return X, []
    (W_q, W_k, W_v), *rest = layers
    scores = torch.einsum("...ik,...jk->...ij", X @ W_q, X @ W_k) / W_k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    output, others = two_layer_attention(X + weights @ (X @ W_v), rest, mask)
    return output, [weights, *others]
""",
    ),
    RightAnswer(
        "layers-float64-and-tuple",
        "two_layer_attention",
        """
def two_layer_attention(X, layers, mask=None):
    (Q0, K0, V0), (Q1, K1, V1) = [[W.double() for W in triple] for triple in layers]
    X0 = X.double()
    output, first = masked_attention(X0 @ Q0, X0 @ K0, X0 @ V0, mask)
    X1 = X0 + output
    output, second = masked_attention(X1 @ Q1, X1 @ K1, X1 @ V1, mask)
    return [X1 + output, (first, second)]
""",
    ),
    RightAnswer("block-right", "TransformerBlock", RIGHT_BLOCK),
    RightAnswer(
        "block-functional",
        "TransformerBlock",
        """
class TransformerBlock(nn.Module):
    def __init__(self, attention, d_model, d_hidden):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.W1, self.W2 = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)
        self.steps = nn.ModuleList([attention])

    def normed(self, X, norm):
        centred = X - X.mean(dim=-1, keepdim=True)
        scaled = centred / (centred.pow(2).mean(dim=-1, keepdim=True) + norm.eps).sqrt()
        return scaled * norm.weight + norm.bias

    def forward(self, X):
        (attend,) = self.steps
        rows = attend(self.normed(X, self.ln1)).add(X)
        hidden = torch.einsum("...d,hd->...h", self.normed(rows, self.ln2), self.W1.weight) + self.W1.bias
        return rows + hidden.clamp(min=0) @ self.W2.weight.T + self.W2.bias
""",
    ),
    RightAnswer(
        "block-optional-mask",
        "TransformerBlock",
        changed(
            RIGHT_BLOCK,
            ("forward(self, X)", "forward(self, X, mask=None)"),
            (
                FIRST_STEP,
                "more = () if mask is None else (mask,)\n        X = X + self.attention(self.ln1(X), *more)",
            ),
        ),
    ),
)
