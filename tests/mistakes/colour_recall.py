"""Assignment 06: what people get wrong, and right answers that look unusual."""

from typing import Any

from course_lib.grading.catalogue import Edit, Mistake, RightAnswer, changed, versions

RIGHT_ENCODE = """
def encode(text, vocabulary):
    ids = []
    for position, token in enumerate(text.split()):
        if token not in vocabulary:
            raise ValueError(f"unknown token {token!r} at position {position}")
        ids.append(vocabulary[token])
    return ids
"""
RIGHT_BATCH = """
def make_batch(texts, targets, vocabulary):
    rows = [encode(text, vocabulary) for text in texts]
    lengths = torch.tensor([len(row) for row in rows])
    M = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (M - len(row)) for row in rows])
    mask = torch.arange(M) < lengths[:, None]
    last = lengths - 1
    goals = torch.tensor([vocabulary[target] for target in targets])
    return ids, mask, last, goals
"""
RIGHT_MODEL = """
class ColourRecall(nn.Module):
    def __init__(self, vocabulary_size=17, d_model=8, d_k=4, scale=0.2, generator=None):
        super().__init__()

        def table(rows, columns):
            return nn.Parameter(torch.randn(rows, columns, generator=generator) * scale)

        self.embedding = table(vocabulary_size, d_model)
        self.W_q = table(d_model, d_k)
        self.W_k = table(d_model, d_k)
        self.W_v = table(d_model, d_model)
        self.W_out = table(d_model, vocabulary_size)
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))

    def forward(self, ids, mask, last):
        X = self.embedding[ids]
        asking = X[torch.arange(len(ids)), last]
        Q = (asking @ self.W_q)[:, None]
        K, V = X @ self.W_k, X @ self.W_v
        scores = (Q @ K.mT)[:, 0] / math.sqrt(K.shape[-1])
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        output = (weights[:, None] @ V)[:, 0]
        return output @ self.W_out + self.bias, weights
"""
RIGHT_LOSS = """
def recall_loss(logits, targets):
    losses = nn.functional.cross_entropy(logits, targets, reduction="none")
    return losses.mean()
"""
RIGHT_TRAIN = """
def train(model, batch, updates, lr):
    ids, mask, last, targets = batch
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for update in range(updates):
        logits, _ = model(ids, mask, last)
        loss = recall_loss(logits, targets)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return losses
"""
RIGHT_VALUE = """
def value_contribution(model, ids, position):
    with torch.no_grad():
        mask = torch.ones(1, len(ids), dtype=torch.bool)
        logits, weights = model(ids[None], mask, torch.tensor([len(ids) - 1]))
        value = model.embedding[ids[position]] @ model.W_v
        return weights[0, position] * (value @ model.W_out)
"""


def wrong(right: str, *changes: tuple[str, str], **fields: Any) -> Mistake:
    """A mistake that is a right answer with some of its text exchanged."""
    return Mistake(code=changed(right, *changes), **fields)


RAISE = 'raise ValueError(f"unknown token {token!r} at position {position}")'
POSITION = "In tokens, counted from 0: which number tells where it stands, and is it in your message?"

ENCODES = (
    wrong(
        RIGHT_ENCODE,
        ("text.split()", 'text.split(" ")'),
        id="encode-single-spaces",
        cause="the text is cut at every single space",
        behaviour="white space",
        case="several spaces",
        question="What stands between two spaces? There is a split that takes any white space at once.",
    ),
    Mistake(
        id="encode-spaces-removed",
        cause="empty pieces are left out, but tabs and ends of lines stay in the tokens",
        code=changed(RIGHT_ENCODE, ("text.split()", '[t for t in text.split(" ") if t]')),
        behaviour="white space",
        case="tabs and lines",
        question="Spaces are not the only white space. What else separates tokens here?",
    ),
    wrong(
        RIGHT_ENCODE,
        ("text.split()", "text.lower().split()"),
        id="encode-lower",
        cause="capital letters are made small",
        case="chapter 6",
        question="Are `The` and `the` one token or two?",
    ),
    Mistake(
        id="encode-own-numbering",
        cause="tokens are numbered in the order of the vocabulary",
        code=changed(RIGHT_ENCODE, ("vocabulary[token]", "list(vocabulary).index(token)")),
        case="another vocabulary",
        question="You number the tokens yourself. Where does the vocabulary keep a token's id?",
    ),
    Mistake(
        id="encode-tensor",
        cause="a tensor instead of a list",
        code=changed(RIGHT_ENCODE, ("return ids", "return torch.tensor(ids)")),
        case="one token",
        question="Return a list of whole numbers, not a value of type Tensor",
    ),
    Mistake(
        id="encode-key-error",
        cause="the dict's own KeyError is left to speak",
        code="""
def encode(text, vocabulary):
    return [vocabulary[token] for token in text.split()]
""",
        behaviour="refuses",
        case="an unknown token",
        question="That is the dict's own complaint. Which kind of error is asked for, and what must it say?",
    ),
    Mistake(
        id="encode-unknown-left-out",
        cause="unknown tokens are left out without a word",
        code="""
def encode(text, vocabulary):
    return [vocabulary[token] for token in text.split() if token in vocabulary]
""",
        behaviour="refuses",
        case="an unknown token",
        question="It must raise ValueError, as a token is unknown",
    ),
    Mistake(
        id="encode-unknown-is-zero",
        cause="unknown tokens get id 0, which belongs to another token",
        code="""
def encode(text, vocabulary):
    return [vocabulary.get(token, 0) for token in text.split()]
""",
        behaviour="refuses",
        case="an unknown token",
        question="It must raise ValueError, as a token is unknown",
    ),
    wrong(
        RIGHT_ENCODE,
        ("enumerate(text.split())", "enumerate(text.split(), start=1)"),
        id="encode-position-from-1",
        cause="positions are counted from 1",
        behaviour="refuses",
        case="an unknown token",
        question=POSITION,
    ),
    wrong(
        RIGHT_ENCODE,
        ("at position {position}", "; known are {vocabulary}"),
        id="encode-message-lists-the-vocabulary",
        cause="the message lists the known tokens with their ids instead of the position",
        behaviour="refuses",
        case="far behind",
        question=POSITION,
    ),
    wrong(
        RIGHT_ENCODE,
        ("at position {position}", "at position {text.index(token)}"),
        id="encode-position-in-letters",
        cause="the position is counted in letters",
        behaviour="refuses",
        case="an unknown token",
        question=POSITION,
    ),
    wrong(
        RIGHT_ENCODE,
        (RAISE, 'raise ValueError("the text has an unknown token")'),
        id="encode-message-without-names",
        cause="the message says neither which token nor where",
        behaviour="refuses",
        case="an unknown token",
        question="The message must help to find the token. What is it, and where does it stand?",
    ),
    wrong(
        RIGHT_ENCODE,
        ("at position {position}", "in {text.split()} at position {position}"),
        ("token {token!r} ", "token "),
        id="encode-message-lists-the-text",
        cause="the message lists all tokens of the text and names none of them",
        behaviour="refuses",
        case="an unknown token",
        question="Your message holds all tokens. Which of them is unknown?",
    ),
    wrong(
        RIGHT_ENCODE,
        (
            "    ids = []",
            "    places = {token: place for place, token in enumerate(text.split())}\n    ids = []",
        ),
        ("at position {position}", "at position {places[token]}"),
        id="encode-last-place",
        cause="a token that stands twice has the position where it stands last",
        behaviour="refuses",
        case="an unknown token twice",
        question="The token stands twice in this text. Which of its places does your message tell?",
    ),
    wrong(
        RIGHT_ENCODE,
        ("token not in vocabulary", "vocabulary.setdefault(token, -1) < 0"),
        id="encode-vocabulary-extended",
        cause="looking a token up puts it into the vocabulary",
        behaviour="refuses",
        case="an unknown token",
        question="Your function changes its input vocabulary",
    ),
    Mistake(
        id="encode-last-unknown",
        cause="of several unknown tokens the last is named",
        code="""
def encode(text, vocabulary):
    tokens = text.split()
    unknown = [(token, position) for position, token in enumerate(tokens) if token not in vocabulary]
    if unknown:
        token, position = unknown[-1]
        raise ValueError(f"unknown token {token!r} at position {position}")
    return [vocabulary[token] for token in tokens]
""",
        behaviour="refuses",
        case="two unknown tokens",
        question="Two tokens are unknown here. Which of them is to be named?",
    ),
)

BATCHES = (
    wrong(
        RIGHT_BATCH,
        ("row + [0] * (M - len(row))", "[0] * (M - len(row)) + row"),
        ("torch.arange(M) < lengths[:, None]", "torch.arange(M) >= M - lengths[:, None]"),
        ("last = lengths - 1", "last = torch.full_like(lengths, M - 1)"),
        id="batch-padded-left",
        cause="texts are filled up on the left",
        case="chapter 6",
        question="Your short texts begin with padding. On which side does the statement want it?",
    ),
    wrong(
        RIGHT_BATCH,
        ("torch.arange(M) < lengths[:, None]", "ids != 0"),
        id="batch-mask-from-ids",
        cause="id 0 is taken for padding, but a token has it too",
        case="chapter 6",
        question="You take every 0 for padding. Which token of the vocabulary has id 0?",
    ),
    wrong(
        RIGHT_BATCH,
        ("torch.arange(M) <", "torch.arange(M) >="),
        id="batch-mask-turned",
        cause="True and False of the mask are exchanged",
        case="chapter 6",
        question="Your mask is True at padding. What does True mean in this course?",
    ),
    wrong(
        RIGHT_BATCH,
        ("torch.arange(M) <", "torch.arange(M) <="),
        id="batch-mask-one-too-far",
        cause="the mask lets in the first padded place",
        case="chapter 6",
        question="A text of 10 tokens has the positions 0 to 9. What does your mask say at 10?",
    ),
    wrong(
        RIGHT_BATCH,
        ("last = lengths - 1", "last = torch.full_like(lengths, M - 1)"),
        id="batch-last-of-the-table",
        cause="the last place of the table is taken for the last token of every text",
        case="chapter 6",
        question="In your batch every text ends at the same place. What stands there in a short one?",
    ),
    wrong(
        RIGHT_BATCH,
        ("last = lengths - 1", "last = lengths"),
        id="batch-last-is-length",
        cause="the number of tokens is taken for the position of the last",
        case="chapter 6",
        question="Counted from 0, at which position does a text of 10 tokens end?",
    ),
    wrong(
        RIGHT_BATCH,
        ("torch.tensor([vocabulary[target] for target in targets])", "ids[torch.arange(len(ids)), last]"),
        id="batch-target-shifted",
        cause="the target is the last token of the text, one too early",
        case="chapter 6",
        question="Your target is the text's own last token, which can be read. Which token is due after it?",
    ),
    wrong(
        RIGHT_BATCH,
        ("vocabulary[target]", "encode(target, vocabulary)"),
        id="batch-targets-in-lists",
        cause="each target is a list of one id",
        case="chapter 6",
        question="`encode` gives a list, also for one token. How many axes do your targets have?",
    ),
    wrong(
        RIGHT_BATCH,
        ("M = max(", "M = min("),
        ("row + [0] * (M - len(row))", "row[:M]"),
        id="batch-cut",
        cause="long texts are cut to the shortest",
        case="chapter 6",
        question="Your table is as wide as the shortest text. Where is the rest of the others?",
    ),
    wrong(
        RIGHT_BATCH,
        ("torch.arange(M) < lengths[:, None]", "(torch.arange(M) < lengths[:, None]).float()"),
        id="batch-mask-of-numbers",
        cause="the mask holds numbers",
        case="chapter 6",
        question="mask must hold booleans; yours holds floats",
    ),
    wrong(
        RIGHT_BATCH,
        ("return ids, mask, last, goals", "return ids.squeeze(), mask.squeeze(), last, goals"),
        id="batch-squeezed",
        cause="axes of length 1 are dropped",
        behaviour="any input",
        case="one text",
        question="An axis of length 1 is gone. Which step drops it?",
    ),
    Mistake(
        id="batch-texts-replaced",
        cause="the list of texts is written over with ids",
        code=changed(
            RIGHT_BATCH,
            (
                "    rows =",
                "    for b, text in enumerate(texts):\n"
                "        texts[b] = encode(text, vocabulary)\n"
                "    rows =",
            ),
            ("[encode(text, vocabulary) for text in texts]", "texts"),
        ),
        behaviour="any input",
        case="one text",
        question="Your function changes its input texts",
    ),
)

MODELS = (
    Mistake(
        id="model-no-scale",
        cause="scores are not divided",
        code=Edit(RIGHT_MODEL, " / math.sqrt(K.shape[-1])", ""),
        case="a batch",
        question="Your scores go into softmax as they are. By what are they divided first?",
    ),
    wrong(
        RIGHT_MODEL,
        ("math.sqrt(K.shape[-1])", "math.sqrt(X.shape[-1])"),
        id="model-scale-d-model",
        cause="scores are divided by the root of the model width",
        case="a batch",
        question=(
            "You divide by the root of a width. A score is the dot product of which two rows, and "
            "how wide are they?"
        ),
    ),
    wrong(
        RIGHT_MODEL,
        ("math.sqrt(K.shape[-1])", "K.shape[-1]"),
        id="model-scale-d-k",
        cause="scores are divided by K instead of its root",
        case="a batch",
        question="You divide by the right width. What of it does the statement say?",
    ),
    wrong(
        RIGHT_MODEL,
        (" + self.bias", ""),
        id="model-bias-not-added",
        cause="the bias is not added",
        case="a batch",
        question="One of the six parameters has no part in your logits. Which?",
    ),
    wrong(
        RIGHT_MODEL,
        ("        self.bias = nn.Parameter(torch.zeros(vocabulary_size))\n", ""),
        (" + self.bias", ""),
        id="model-no-bias",
        cause="there is no bias",
        case="a batch",
        question="Its parameters must be W_k, W_out, W_q, W_v, bias, embedding",
    ),
    wrong(
        RIGHT_MODEL,
        ("table(d_model, vocabulary_size)", "table(vocabulary_size, d_model)"),
        ("@ self.W_out", "@ self.W_out.T"),
        id="model-w-out-turned",
        cause="W_out is kept the other way round",
        case="a batch",
        question="The parameter W_out must have shape",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "nn.Parameter(torch.randn(rows, columns, generator=generator) * scale)",
            "torch.randn(rows, columns, generator=generator) * scale",
        ),
        id="model-tables-not-learned",
        cause="the tables are no parameters",
        case="a batch",
        question="yours are bias.",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "self.embedding = table(vocabulary_size, d_model)",
            "self.embedding = nn.Embedding(vocabulary_size, d_model)",
        ),
        ("self.embedding[ids]", "self.embedding(ids)"),
        id="model-linear-names",
        cause="a module of PyTorch's in place of a parameter, so its name is another",
        case="a batch",
        question="embedding.weight",
    ),
    wrong(
        RIGHT_MODEL,
        ("K, V = X @ self.W_k", "K, V = X @ self.W_q"),
        id="model-one-projection-twice",
        cause="keys are made with the matrix of the queries",
        case="a batch",
        question="`W_k` has no part in your scores. Which matrix makes your keys?",
    ),
    Mistake(
        id="model-no-values",
        cause="embeddings are summed instead of values",
        code=Edit(RIGHT_MODEL, "weights[:, None] @ V", "weights[:, None] @ X"),
        case="a batch",
        question="You sum rows of the embedding. What is to be summed?",
    ),
    wrong(
        RIGHT_MODEL,
        ("return output @", "output = output + asking\n        return output @"),
        id="model-residual",
        cause="the asking token's row is added to the output",
        case="a batch",
        question="Something of the asking token gets past the attention. Where does the statement add it?",
    ),
    Mistake(
        id="model-first-token-asks",
        cause="the first token asks",
        code=Edit(RIGHT_MODEL, "(asking @ self.W_q)[:, None]", "X[:, :1] @ self.W_q"),
        case="a batch",
        question="In your layer the first token asks. What is `last` for?",
    ),
    Mistake(
        id="model-softmax-over-texts",
        cause="softmax runs over the texts of the batch",
        code=Edit(RIGHT_MODEL, ".softmax(dim=-1)", ".softmax(dim=0)"),
        case="a batch",
        question="Your softmax lets the texts compete. Which axis holds the keys?",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "return output @ self.W_out + self.bias, weights",
            "return (output @ self.W_out + self.bias).softmax(dim=-1), weights",
        ),
        id="model-returns-probabilities",
        cause="probabilities instead of logits",
        case="a batch",
        question="Your rows of logits sum to 1. Who makes probabilities of logits, the layer or its loss?",
    ),
    wrong(
        RIGHT_MODEL,
        ("self.bias, weights", "self.bias"),
        id="model-logits-only",
        cause="the weights are not returned",
        case="a batch",
        question="Return 2 values, (logits, weights)",
    ),
    wrong(
        RIGHT_MODEL,
        ("scores.masked_fill(~mask, -torch.inf)", "scores.masked_fill(ids == 0, -torch.inf)"),
        id="model-mask-from-ids",
        cause="id 0 is taken for padding, but a token has it too",
        case="a batch",
        question="A token is hidden here although its text has no padding. Which id does it have?",
    ),
    wrong(
        RIGHT_MODEL,
        ("X[torch.arange(len(ids)), last]", "X[:, -1]"),
        id="model-last-is-minus-1",
        cause="the last place of the table asks, which is padding in a short text",
        behaviour="training",
        case="texts of different lengths",
        question="In a short text, your query comes from padding. Where does its last token stand?",
    ),
    wrong(
        RIGHT_MODEL,
        ("scores.masked_fill(~mask, -torch.inf)", "scores"),
        id="model-padding-not-masked",
        cause="padding is scored, and takes weight",
        behaviour="training",
        case="texts of different lengths",
        question="Padding takes weight in your layer, as if it were the token with id 0. What is `mask` for?",
    ),
    wrong(
        RIGHT_MODEL,
        ("-torch.inf", "0.0"),
        id="model-padding-scored-0",
        cause="padding gets the score 0",
        behaviour="training",
        case="texts of different lengths",
        question="Behind your mask the score is 0. What does softmax make of 0?",
    ),
    wrong(
        RIGHT_MODEL,
        ("scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)", "scores.softmax(dim=-1) * mask"),
        id="model-masked-after-softmax",
        cause="weights of padding are set to 0 after softmax, and the rest does not sum to 1",
        behaviour="training",
        case="texts of different lengths",
        question="Weights are taken from padding after the division. Who gets what they had?",
    ),
    wrong(
        RIGHT_MODEL,
        ("weights[:, None] @ V", "weights.detach()[:, None] @ V"),
        id="model-weights-detached",
        cause="the weights are cut off before they are used",
        behaviour="training",
        case="no padding",
        question="No gradient reaches W_q, W_k",
    ),
    wrong(
        RIGHT_MODEL,
        ("X = self.embedding[ids]", "X = self.embedding.detach()[ids]"),
        id="model-embedding-frozen",
        cause="the embedding is cut off",
        behaviour="training",
        case="no padding",
        question="No gradient reaches embedding",
    ),
    *versions(
        "model-small-constant",
        {
            name: (
                changed(RIGHT_MODEL, ("masked_fill(~mask, -torch.inf)", masked)),
                "large scores",
                "Here padding still wins against every token of a text. Which number is below any score?",
            )
            for name, masked in (
                ("-1e4", "masked_fill(~mask, -1e4)"),
                ("-100", "masked_fill(~mask, -100.0)"),
                ("added", "add((~mask) * -100.0)"),
            )
        },
        cause="padding gets a constant in place of its score that is not small enough",
        behaviour="training",
    ),
    wrong(
        RIGHT_MODEL,
        ("weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)", "weights = scores.exp() * mask"),
        ("        output", "        weights = weights / weights.sum(dim=-1, keepdim=True)\n        output"),
        id="model-exp-overflows",
        cause="exp of scores without taking the largest off",
        behaviour="training",
        case="large scores",
        question="Which step can overflow, or divide by 0?",
    ),
    wrong(
        RIGHT_MODEL,
        ("masked_fill(~mask, -torch.inf)", "masked_fill(~mask & self.training, -torch.inf)"),
        id="model-padding-masked-in-training-only",
        cause="in evaluation mode padding is not masked",
        behaviour="training",
        case="evaluation mode",
        question="In evaluation mode your layer looks at padding as well. What may differ between the modes?",
    ),
    wrong(
        RIGHT_MODEL,
        (" * scale)", ")"),
        id="start-not-scaled",
        cause="random numbers are not multiplied by the scale",
        behaviour="start",
        case="large tables",
        question="The standard deviation of embedding is",
    ),
    wrong(
        RIGHT_MODEL,
        (" * scale)", " * scale**0.5)"),
        id="start-scale-is-variance",
        cause="the scale is taken for the variance",
        behaviour="start",
        case="large tables",
        question="The standard deviation of embedding is",
    ),
    wrong(
        RIGHT_MODEL,
        ("d_k=4", "d_k=8"),
        id="start-other-defaults",
        cause="a default that is not the one of the signature",
        behaviour="start",
        case="no arguments",
        question="Which sizes does it have if none are given?",
    ),
    wrong(
        RIGHT_MODEL,
        ("torch.randn(rows", "torch.rand(rows"),
        id="start-uniform",
        cause="numbers between 0 and 1 instead of normal ones",
        behaviour="start",
        case="large tables",
        question="All of your numbers are above 0. What does `randn` draw, and what `rand`?",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "torch.randn(rows, columns, generator=generator) * scale",
            "(torch.rand(rows, columns, generator=generator) - 0.5) * 12**0.5 * scale",
        ),
        id="start-uniform-around-0",
        cause="uniform numbers around 0 with the right standard deviation",
        behaviour="start",
        case="large tables",
        question="end too soon on both sides. What draws normal ones?",
    ),
    *versions(
        "start-seed-taken-from-the-generator",
        {
            name: (
                changed(
                    RIGHT_MODEL,
                    ("        super().__init__()\n", f"        super().__init__()\n{line}\n"),
                    *more,
                ),
                "large tables",
                "is the same in two models, one after the other",
            )
            for name, line, *more in (
                (
                    "generator",
                    "        if generator is not None:\n"
                    "            generator = torch.Generator().manual_seed(generator.initial_seed())",
                ),
                (
                    "global",
                    "        if generator is not None:\n"
                    "            torch.manual_seed(generator.initial_seed())",
                    ("generator=generator) * scale", "generator=None) * scale"),
                ),
            )
        },
        cause="only the generator's seed is used, so that every model of one generator is the same",
        behaviour="start",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "self.W_out = table(d_model, vocabulary_size)",
            "self.W_out = nn.Parameter(self.embedding.detach().T.clone())",
        ),
        id="start-output-is-embedding",
        cause="the last table starts as the embedding, turned",
        behaviour="start",
        case="large tables",
        question="Two tables of one model start with the same numbers",
    ),
    wrong(
        RIGHT_MODEL,
        ("self.W_v = table(d_model, d_model)", "self.W_v = nn.Parameter(torch.eye(d_model) * scale)"),
        id="start-identity",
        cause="one table starts as a multiple of the identity",
        behaviour="start",
        case="large tables",
        question="The standard deviation of W_v is",
    ),
    wrong(
        RIGHT_MODEL,
        ("generator=generator) * scale", "generator=None) * scale"),
        id="start-generator-unused",
        cause="the generator is not used",
        behaviour="start",
        case="large tables",
        question="differs between two models although the generator has the same seed",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "        super().__init__()\n",
            "        super().__init__()\n        generator = generator or torch.Generator().manual_seed(0)\n",
        ),
        id="start-own-seed",
        cause="without a generator, the same start every time",
        behaviour="start",
        case="no generator",
        question="is the same in two models although PyTorch's own generator has another seed",
    ),
    wrong(
        RIGHT_MODEL,
        ("self.W_k = table(d_model, d_k)", "self.W_k = nn.Parameter(self.W_q.detach().clone())"),
        id="start-twins",
        cause="two tables start with the same numbers",
        behaviour="start",
        case="large tables",
        question="Two tables of one model start with the same numbers",
    ),
    wrong(
        RIGHT_MODEL,
        (
            "nn.Parameter(torch.zeros(vocabulary_size))",
            "nn.Parameter(torch.randn(vocabulary_size, generator=generator) * scale)",
        ),
        id="start-random-bias",
        cause="the bias starts at random",
        behaviour="start",
        case="large tables",
        question="The bias must start at 0",
    ),
    wrong(
        RIGHT_MODEL,
        ("scale=0.2", "scale=1.0"),
        id="start-other-default",
        cause="another default scale",
        behaviour="start",
        case="no arguments",
        question="Without arguments your tables spread wider. Which scale does the signature give?",
    ),
)

LOSSES = (
    Mistake(
        id="loss-sum",
        cause="sum for mean",
        code=Edit(RIGHT_LOSS, "mean", "sum"),
        case="a batch",
        question="Yours grows with the number of texts. What becomes a mean in the end?",
    ),
    Mistake(
        id="loss-probabilities",
        cause="probabilities go into cross-entropy, which takes logits",
        code=Edit(RIGHT_LOSS, "cross_entropy(logits", "cross_entropy(logits.softmax(dim=-1)"),
        case="a batch",
        question="Softmax has been at work twice. What does PyTorch's `cross_entropy` want to be given?",
    ),
    Mistake(
        id="loss-logits-into-nll",
        cause="logits go into nll_loss, which takes logarithms of probabilities",
        code="""
def recall_loss(logits, targets):
    return nn.functional.nll_loss(logits, targets)
""",
        case="a batch",
        question="Your loss is minus the mean logit of the targets. Which step must come before it?",
    ),
    Mistake(
        id="loss-no-minus",
        cause="the minus is missing",
        code="""
def recall_loss(logits, targets):
    return torch.log_softmax(logits, dim=-1)[torch.arange(len(targets)), targets].mean()
""",
        case="a batch",
        question=(
            "Your loss is below 0, and training would lower it further. What would become of the probability?"
        ),
    ),
    Mistake(
        id="loss-log-of-mean",
        cause="the logarithm of the mean probability",
        code="""
def recall_loss(logits, targets):
    p = torch.softmax(logits, dim=-1)[torch.arange(len(targets)), targets]
    return -torch.log(p.mean())
""",
        case="a batch",
        question="Which comes first, the logarithm or the mean?",
    ),
    Mistake(
        id="loss-probability-missing",
        cause="1 minus the probability, without a logarithm",
        code="""
def recall_loss(logits, targets):
    p = torch.softmax(logits, dim=-1)[torch.arange(len(targets)), targets]
    return (1 - p).mean()
""",
        case="a batch",
        question="Yours never exceeds 1. What should the loss be where the probability is nearly 0?",
    ),
    Mistake(
        id="loss-over-texts",
        cause="softmax runs over the texts",
        code="""
def recall_loss(logits, targets):
    return -torch.log_softmax(logits, dim=0)[torch.arange(len(targets)), targets].mean()
""",
        case="a batch",
        question="Your softmax lets texts compete. Which axis holds the tokens?",
    ),
    Mistake(
        id="loss-every-column",
        cause="every text's row is asked for all targets",
        code="""
def recall_loss(logits, targets):
    return -torch.log_softmax(logits, dim=-1)[:, targets].mean()
""",
        case="a batch",
        question="How many numbers does your indexing pick: one per text, or one per text and target?",
    ),
    Mistake(
        id="loss-mean-over-tokens",
        cause="the sum is divided by the number of texts and tokens",
        code="""
def recall_loss(logits, targets):
    chosen = nn.functional.one_hot(targets, logits.shape[-1])
    return -(torch.log_softmax(logits, dim=-1) * chosen).mean()
""",
        case="a batch",
        question="Your mean also counts the zeros. How many numbers is it the mean of?",
    ),
    Mistake(
        id="loss-shifted",
        cause="targets are shifted by one, as if each text were the next token of the one before",
        code=Edit(RIGHT_LOSS, "targets, reduction", "targets.roll(-1), reduction"),
        case="a batch",
        question="Your targets are shifted by one. Whose target is targets[0]?",
    ),
    Mistake(
        id="loss-ignores-0",
        cause="targets with id 0 are taken for padding",
        code="""
def recall_loss(logits, targets):
    return nn.functional.cross_entropy(logits, targets, ignore_index=0)
""",
        case="a batch",
        question="A text is left out of your mean. What is its target?",
    ),
    Mistake(
        id="loss-log-of-softmax",
        cause="the logarithm of a probability that has become 0",
        code="""
def recall_loss(logits, targets):
    p = torch.softmax(logits, dim=-1)
    return -torch.log(p[torch.arange(len(targets)), targets]).mean()
""",
        behaviour="training",
        case="very large",
        question="A probability has become 0 here. Can you have its logarithm without having it first?",
    ),
    Mistake(
        id="loss-small-constant",
        cause="a small constant keeps the logarithm finite, and wrong",
        code="""
def recall_loss(logits, targets):
    p = torch.softmax(logits, dim=-1)
    return -torch.log(p[torch.arange(len(targets)), targets] + 1e-9).mean()
""",
        behaviour="training",
        case="very large",
        question=(
            "Your constant replaces every small probability. What is left for the gradient to learn from?"
        ),
    ),
    wrong(
        RIGHT_LOSS,
        (
            "    losses",
            "    with torch.no_grad():\n        logits -= logits.amax(dim=-1, keepdim=True)\n    losses",
        ),
        id="loss-in-place",
        cause="the largest logit is taken off in place",
        behaviour="training",
        case="a batch",
        question="Your function changes its input logits",
    ),
    Mistake(
        id="loss-clamped",
        cause="a lower bound for logarithms, which a small probability reaches",
        code="""
def recall_loss(logits, targets):
    logs = logits.log_softmax(dim=-1).clamp(min=-1e4)
    return -logs[torch.arange(len(targets)), targets].mean()
""",
        behaviour="training",
        case="very large",
        question="One target here is 20,000 below the largest logit. What does your bound make of it?",
    ),
    Mistake(
        id="loss-no-gradient",
        cause="a plain number, from which no gradient flows back",
        code="""
def recall_loss(logits, targets):
    return nn.functional.cross_entropy(logits, targets).item()
""",
        behaviour="training",
        case="a batch",
        question="Return PyTorch tensors: gradients flow through nothing else.",
    ),
)

UNMOVED = (
    "Your model has not moved at all. Whose numbers does the optimiser hold, and by which gradient does it "
    "step?"
)
STEPS = """        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
"""

TRAININGS = (
    wrong(
        RIGHT_TRAIN,
        ("        optimiser.zero_grad()\n", ""),
        id="train-gradients-not-zeroed",
        cause="gradients of all updates add up",
        case="four updates",
        question=(
            "The first step is right, later ones are not. What does `backward` do with the gradient that is "
            "there already?"
        ),
    ),
    wrong(
        RIGHT_TRAIN,
        (STEPS, "        optimiser.zero_grad()\n        optimiser.step()\n        loss.backward()\n"),
        id="train-step-before-backward",
        cause="the step comes before backward",
        case="one update",
        question=UNMOVED,
    ),
    wrong(
        RIGHT_TRAIN,
        (STEPS, "        loss.backward()\n        optimiser.zero_grad()\n        optimiser.step()\n"),
        id="train-zeroed-before-step",
        cause="the gradient is forgotten before the step",
        case="one update",
        question=UNMOVED,
    ),
    wrong(
        RIGHT_TRAIN,
        ("    optimiser = torch.optim.Adam(model.parameters(), lr=lr)\n", ""),
        (
            "        optimiser.zero_grad()",
            "        optimiser = torch.optim.Adam(model.parameters(), lr=lr)\n        optimiser.zero_grad()",
        ),
        id="train-new-optimiser",
        cause="a new optimiser for each update, which remembers nothing",
        case="four updates",
        question=(
            "Every step of yours is a first step. What does Adam remember from one update to the next, and "
            "what forgets it here?"
        ),
    ),
    wrong(
        RIGHT_TRAIN,
        ("        losses.append(loss.item())\n", ""),
        (
            "        optimiser.step()\n",
            "        optimiser.step()\n"
            "        losses.append(recall_loss(model(ids, mask, last)[0], targets).item())\n",
        ),
        id="train-loss-after-step",
        cause="the loss is noted after the step",
        case="four updates",
        question="Your list starts one update late. Does it note a loss before or after the step?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("torch.optim.Adam(", "torch.optim.SGD("),
        id="train-sgd",
        cause="plain gradient steps instead of Adam",
        case="one update",
        question="Your numbers move by their gradients. Which optimiser is asked for?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("torch.optim.Adam(model.parameters(), lr=lr)", "torch.optim.AdamW(model.parameters(), lr=lr)"),
        id="train-adamw",
        cause="another Adam, which also shrinks all numbers",
        case="one update",
        question="Your numbers also shrink a little at every step. Which optimiser does that?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("lr=lr", "lr=lr, eps=1e-6"),
        id="train-eps",
        cause="another eps than Adam's own",
        case="one update",
        question="Your steps are a little too short. Which of Adam's options have you set?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("optimiser.step()", "nn.utils.clip_grad_norm_(model.parameters(), 0.1)\n        optimiser.step()"),
        id="train-clipped",
        cause="gradients are made shorter before the step",
        case="four updates",
        question="Your gradients are cut to a length before the step. Who asks for that?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("lr=lr", "lr=0.03"),
        id="train-fixed-rate",
        cause="chapter 6's learning rate instead of the one that is given",
        case="one update",
        question="Your steps have the right direction. Whose learning rate do they have?",
    ),
    wrong(
        RIGHT_TRAIN,
        (", lr=lr)", ")"),
        id="train-default-rate",
        cause="the optimiser's default learning rate",
        case="one update",
        question="Your steps are much smaller than asked for. Who tells Adam the learning rate?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("range(updates)", "range(1, updates)"),
        id="train-one-too-few",
        cause="one update too few",
        case="four updates",
        question="How many updates does your loop make?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("range(updates)", "range(updates + 1)"),
        id="train-one-too-many",
        cause="one update too many",
        case="four updates",
        question="How many updates does your loop make?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("loss.item()", "loss"),
        id="train-losses-keep-gradients",
        cause="losses are kept with their gradients switched on",
        case="one update",
        question="A tensor in the list keeps its whole gradient. Which method of it makes a plain float?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("recall_loss(logits, targets)", "recall_loss(logits.softmax(dim=-1), targets)"),
        id="train-probabilities",
        cause="probabilities go into a loss that takes logits",
        case="one update",
        question="The first loss is wrong already. What does `recall_loss` want to be given?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("recall_loss(logits, targets)", 'nn.functional.cross_entropy(logits, targets, reduction="sum")'),
        id="train-sum",
        cause="sum for mean; Adam's steps hide it, the losses do not",
        case="one update",
        question="Your losses grow with the number of texts. Which loss is asked for?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("model(ids, mask, last)", "model(ids, mask, torch.full_like(last, ids.shape[1] - 1))"),
        id="train-last-is-minus-1",
        cause="the last place of the table asks",
        case="one update",
        question="The first loss is wrong already. Which token asks in a short text?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("model(ids, mask, last)", "model(ids, torch.ones_like(mask), last)"),
        id="train-padding-not-masked",
        cause="the mask is left out, and padding takes weight",
        case="one update",
        question="The first loss is wrong already. What does your model see in padded places?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("model.parameters()", "[p for p in model.parameters() if p.dim() == 2]"),
        id="train-bias-left-out",
        cause="the bias is not trained",
        case="one update",
        question="One parameter has not moved at all. Is it among those that the optimiser got?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("    ids, mask,", '    model = __import__("copy").deepcopy(model)\n    ids, mask,'),
        id="train-copy",
        cause="a copy is trained",
        case="one update",
        question=UNMOVED,
    ),
    wrong(
        RIGHT_TRAIN,
        (
            "        logits, _ = model(ids, mask, last)",
            "        with torch.no_grad():\n            logits, _ = model(ids, mask, last)",
        ),
        id="train-without-gradients",
        cause="gradients are switched off while the model reads",
        case="one update",
        question="Where are gradients switched off, and who needs them?",
    ),
    Mistake(
        id="train-text-by-text",
        cause="a step after each text",
        code="""
def train(model, batch, updates, lr):
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for update in range(updates):
        total = 0.0
        for ids, mask, last, target in zip(*batch):
            logits, _ = model(ids[None], mask[None], last[None])
            loss = recall_loss(logits, target[None])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item()
        losses.append(total / len(batch[0]))
    return losses
""",
        case="one update",
        question="Your model moves several times in one update. How many texts does a step go by?",
    ),
    Mistake(
        id="train-evaluated-with-gradients",
        cause="the loss is worked out a second time for the list, and its gradient is added to the first",
        code=changed(
            RIGHT_TRAIN,
            ("        losses.append(loss.item())\n", ""),
            (
                "        loss.backward()\n",
                "        loss.backward()\n"
                "        noted = model(ids, mask, last)[0].logsumexp(dim=-1).mean()\n"
                "        noted.backward()\n"
                "        losses.append(loss.item())\n",
            ),
        ),
        case="one update",
        question="Your losses are right and your step is not. What else adds to the gradient?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("        optimiser.zero_grad()\n", ""),
        ("        optimiser.step()\n", "        optimiser.step()\n        optimiser.zero_grad()\n"),
        id="train-zeroed-late",
        cause="gradients are zeroed after each step only, so old ones go into the first",
        behaviour="any input",
        case="gradients from before",
        question="Your first step goes by old gradients as well. When do you forget them?",
    ),
    wrong(
        RIGHT_TRAIN,
        ("    return losses", "    return losses if len(losses) > 1 else losses[0]"),
        id="train-one-loss-alone",
        cause="a list of one loss is unpacked",
        case="one update",
        question="Return a list of floats, not a value of type float",
    ),
    wrong(
        RIGHT_TRAIN,
        ("    return losses", "    return losses[:-1] + [loss.item()]"),
        id="train-needs-an-update",
        cause="the last loss is taken from the loop's variable, which no update leaves undefined",
        behaviour="any input",
        case="no update",
        question="Without an update your loop never runs. Which name is not there then?",
    ),
    wrong(
        RIGHT_TRAIN,
        (
            "        optimiser.zero_grad()",
            "        if losses[-1] < 0.5:\n            break\n        optimiser.zero_grad()",
        ),
        id="train-stops-early",
        cause="training ends when the loss seems small enough",
        behaviour="learns",
        case="two starts",
        question="the loss of a trained model must be below",
    ),
    wrong(
        RIGHT_TRAIN,
        ("        loss.backward()", "        if loss < 0.01:\n            continue\n        loss.backward()"),
        id="train-stops-late",
        cause="no more steps once the loss is small",
        behaviour="learns",
        case="two starts",
        question="is not what so many updates by one Adam give",
    ),
    wrong(
        RIGHT_TRAIN,
        (
            "        loss.backward()",
            "        if update % 20 == 0:\n"
            "            optimiser = torch.optim.Adam(model.parameters(), lr=lr)\n"
            "        loss.backward()",
        ),
        id="train-new-optimiser-now-and-then",
        cause="a new optimiser every twenty updates",
        behaviour="learns",
        case="two starts",
        question="is not what so many updates by one Adam give",
    ),
)

WEIGHT = "weights[0, position] * (value @ model.W_out)"

CONTRIBUTIONS = (
    wrong(
        RIGHT_VALUE,
        ("weights[0, position] * ", ""),
        id="value-without-weight",
        cause="the weight is left out",
        case="a text",
        question="That is what the token would add if it had all of the weight. How much has it?",
    ),
    Mistake(
        id="value-with-bias",
        cause="the bias is added",
        code=Edit(RIGHT_VALUE, "(value @ model.W_out)", "(value @ model.W_out) + model.bias"),
        case="a text",
        question="Summed over all positions, how often would your bias be counted?",
    ),
    wrong(
        RIGHT_VALUE,
        ("model.embedding[ids[position]]", "model.embedding[ids[-1]]"),
        id="value-of-the-last",
        cause="the value of the token that asks",
        case="a text",
        question="The weight is right. Whose value do you multiply it by?",
    ),
    wrong(
        RIGHT_VALUE,
        ("weights[0, position]", "weights[0, -1]"),
        id="value-weight-of-the-last",
        cause="the weight on the token that asks",
        case="a text",
        question="The value is right. On which token lies the weight that you take?",
    ),
    Mistake(
        id="value-asks-itself",
        cause="the token at the position asks",
        code=Edit(RIGHT_VALUE, "[len(ids) - 1]", "[position]"),
        case="a text",
        question="Your query comes from the token at `position`. Which token asks?",
    ),
    wrong(
        RIGHT_VALUE,
        ("ids[position]", "position"),
        id="value-position-for-id",
        cause="the position is taken for a token's id",
        case="a text",
        question="A row of the embedding belongs to a token. Which token stands at `position`?",
    ),
    wrong(
        RIGHT_VALUE,
        ("    with torch", "    position = position - 1\n    with torch"),
        id="value-position-from-1",
        cause="positions are counted from 1",
        case="a text",
        question="That is what the token before it adds. From which number do positions count?",
    ),
    Mistake(
        id="value-is-embedding",
        cause="the embedding is taken for the value",
        code=Edit(RIGHT_VALUE, " @ model.W_v", ""),
        case="a text",
        question="`W_v` has no part in it. What makes a value of a row of the embedding?",
    ),
    wrong(
        RIGHT_VALUE,
        ("(value @ model.W_out)", "value"),
        id="value-before-w-out",
        cause="W_out is left out",
        case="a text",
        question="Yours has a number per column of a value. What makes a number per logit of it?",
    ),
    wrong(
        RIGHT_VALUE,
        (WEIGHT, "logits[0] - model.bias"),
        id="value-of-all-positions",
        cause="the contributions of all positions together",
        case="a text",
        question="That is what all tokens add together. Which part of it comes from one?",
    ),
    wrong(
        RIGHT_VALUE,
        (WEIGHT, f"({WEIGHT}).softmax(dim=0)"),
        id="value-as-probabilities",
        cause="a softmax over the contribution",
        case="a text",
        question="Yours sum to 1. Are contributions probabilities?",
    ),
    wrong(
        RIGHT_VALUE,
        (WEIGHT, f"({WEIGHT})[None]"),
        id="value-batch-kept",
        cause="the axis of the batch is kept",
        case="a text",
        question="There is an axis for one text. Does the statement have it?",
    ),
    wrong(
        RIGHT_VALUE,
        ("with torch.no_grad():", "if True:"),
        id="value-with-gradients",
        cause="the model is read with gradients on",
        behaviour="any input",
        case="one token",
        question="The result still carries a gradient",
    ),
    wrong(
        RIGHT_VALUE,
        ("        logits, weights =", "        model.bias.zero_()\n        logits, weights ="),
        id="value-changes-the-model",
        cause="the bias is taken out of the model itself",
        behaviour="any input",
        case="one token",
        question="Your function changes the model",
    ),
    *versions(
        "value-leaves-a-trace",
        {
            name: (changed(RIGHT_VALUE, ("    with torch", f"    {line}\n    with torch")), "one token", told)
            for name, line, told in (
                ("mode", "model.eval()", "leaves the model in evaluation mode"),
                ("gradients", "model.zero_grad()", "changes gradients that the model's parameters hold"),
                ("frozen", "model.requires_grad_(False)", "parameters that no longer require a gradient"),
                ("doubles", "model.double()", "Your function changes the model"),
                ("attribute", "model.position = position", "leaves a new attribute in the model"),
                ("switch", "torch.set_grad_enabled(False)", "leaves gradients switched off"),
            )
        },
        cause="the model or PyTorch is left in another state",
        behaviour="any input",
    ),
)

MISTAKES = (*ENCODES, *BATCHES, *MODELS, *LOSSES, *TRAININGS, *CONTRIBUTIONS)

RIGHT = (
    RightAnswer(
        id="encode-from-key-error",
        function="encode",
        code="""
def encode(text, vocabulary):
    def one(place):
        position, token = place
        try:
            return vocabulary[token]
        except KeyError as error:
            raise ValueError(f"position {position}: {token} is no token") from error
    return list(map(one, enumerate(text.split())))
""",
    ),
    RightAnswer(
        id="encode-with-an-error-of-its-own",
        function="encode",
        code="""
class UnknownToken(ValueError):
    pass

def encode(text, vocabulary):
    import re
    tokens = re.findall(r"[^\\s]+", text)
    unknown = [(token, place) for place, token in enumerate(tokens) if token not in vocabulary]
    if unknown:
        raise UnknownToken(f"first unknown (token, position): {unknown[0]}")
    return [vocabulary[token] for token in tokens]
""",
    ),
    RightAnswer(
        id="batch-by-loop",
        function="make_batch",
        code="""
def make_batch(texts, targets, vocabulary):
    split = [text.split() for text in texts]
    B, M = len(split), max(map(len, split))
    ids = torch.zeros(B, M, dtype=torch.long)
    mask = torch.zeros(B, M).bool()
    last, goals = torch.zeros(B).long(), torch.zeros(B).long()
    for b in range(B):
        for m, token in enumerate(split[b]):
            ids[b, m], mask[b, m], last[b] = vocabulary[token], True, m
        goals[b] = vocabulary[targets[b]]
    return ids, mask, last, goals
""",
    ),
    RightAnswer(
        id="batch-by-pad-sequence",
        function="make_batch",
        code="""
def make_batch(texts, targets, vocabulary):
    pad = torch.nn.utils.rnn.pad_sequence
    rows = [torch.tensor(encode(text, vocabulary), dtype=torch.int32) for text in texts]
    ids = pad(rows, batch_first=True)
    mask = pad([torch.ones(len(row)) for row in rows], batch_first=True) > 0.5
    return [ids, mask, mask.sum(dim=1) - 1, torch.tensor(encode(" ".join(targets), vocabulary))]
""",
    ),
    RightAnswer(
        id="model-other-order",
        function="ColourRecall",
        code="""
class ColourRecall(nn.Module):
    def __init__(self, vocabulary_size=17, d_model=8, d_k=4, scale=0.2, generator=None):
        super().__init__()
        N, D = vocabulary_size, d_model
        shapes = {"bias": (N,), "W_out": (D, N), "W_v": (D, D), "W_k": (D, d_k), "W_q": (D, d_k)}
        shapes["embedding"] = (N, D)
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))
            if name != "bias":
                nn.init.normal_(getattr(self, name), std=scale, generator=generator)

    def forward(self, ids, mask, last):
        X = nn.functional.embedding(ids, self.embedding)
        asking = X.gather(1, last[:, None, None].expand(-1, 1, X.shape[-1]))
        scores = torch.einsum("bqd,dk,ek,bme->bm", asking, self.W_q, self.W_k, X) * self.W_q.shape[1] ** -0.5
        weights = torch.softmax(scores + torch.where(mask, 0.0, -1e9), dim=1)
        mixed = torch.einsum("bm,bmd->bd", weights, X)
        return torch.addmm(self.bias, mixed @ self.W_v, self.W_out), weights.detach()
""",
    ),
    RightAnswer(
        id="model-by-loop",
        function="ColourRecall",
        code="""
class ColourRecall(nn.Module):
    def __init__(self, vocabulary_size=17, d_model=8, d_k=4, scale=0.2, generator=None):
        super().__init__()
        def normal(*shape):
            table = torch.empty(shape, dtype=torch.float64)
            return nn.Parameter(table.normal_(0, scale, generator=generator))
        self.embedding = normal(vocabulary_size, d_model)
        self.W_q, self.W_k = normal(d_model, d_k), normal(d_model, d_k)
        self.W_v, self.W_out = normal(d_model, d_model), normal(d_model, vocabulary_size)
        self.bias = nn.Parameter(torch.zeros(vocabulary_size, dtype=torch.float64))

    def forward(self, ids, mask, last):
        logits, weights = [], []
        for row, real, end in zip(ids, mask, last):
            X = self.embedding[row[: end + 1]]
            p = torch.softmax(X @ self.W_k @ (self.W_q.T @ X[-1]) / math.sqrt(self.W_k.shape[1]), dim=0)
            logits.append(p @ X @ self.W_v @ self.W_out + self.bias)
            weights.append(torch.cat([p, p.new_zeros(len(row) - len(p))]))
        return torch.stack(logits), torch.stack(weights)
""",
    ),
    RightAnswer(
        id="model-all-queries",
        function="ColourRecall",
        code=changed(
            RIGHT_MODEL,
            ("        asking = X[torch.arange(len(ids)), last]\n", ""),
            ("(asking @ self.W_q)[:, None]", "X @ self.W_q"),
            ("(Q @ K.mT)[:, 0]", "(Q @ K.mT)[range(len(ids)), last.tolist()]"),
        ),
    ),
    RightAnswer(
        id="model-masked-softmax",
        function="ColourRecall",
        code=changed(
            RIGHT_MODEL,
            ("scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)", "masked_softmax(scores, mask)"),
        ),
    ),
    RightAnswer(
        id="loss-by-logsumexp",
        function="recall_loss",
        code="""
def recall_loss(logits, targets):
    right = logits.gather(1, targets[:, None])[:, 0]
    return (logits.logsumexp(dim=1) - right).sum() / len(targets)
""",
    ),
    RightAnswer(
        id="loss-by-one-hot",
        function="recall_loss",
        code="""
def recall_loss(logits, targets):
    shifted = logits.double() - logits.double().max(dim=-1, keepdim=True).values
    log_p = shifted - torch.log(torch.exp(shifted).sum(dim=-1, keepdim=True))
    return -(log_p * nn.functional.one_hot(targets, logits.shape[-1])).sum(dim=-1).mean()
""",
    ),
    RightAnswer(
        id="loss-module",
        function="recall_loss",
        code="""
recall_loss = nn.CrossEntropyLoss()
""",
    ),
    RightAnswer(
        id="train-gradients-added-up",
        function="train",
        code="""
def train(model, batch, updates, lr):
    optimiser = torch.optim.Adam(list(model.parameters()), lr=lr)
    losses = []
    while len(losses) < updates:
        for parameter in model.parameters():
            parameter.grad = None
        total = 0.0
        for ids, mask, last, target in zip(*batch):
            loss = recall_loss(model(ids[None], mask[None], last[None])[0], target[None]) / len(batch[0])
            loss.backward()
            total += float(loss)
        optimiser.step()
        losses += [total]
    return losses
""",
    ),
    RightAnswer(
        id="train-by-autograd",
        function="train",
        code="""
def train(model, batch, updates, lr):
    *inputs, targets = batch
    parameters = [parameter for _, parameter in sorted(model.named_parameters())]
    adam = torch.optim.Adam([{"params": [each]} for each in parameters], lr)
    history = torch.zeros(updates, dtype=torch.float64)
    for update in range(updates):
        loss = nn.functional.cross_entropy(model.forward(*inputs)[0], targets)
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
            parameter.grad = gradient
        history[update] = loss.detach()
        adam.step()
        adam.zero_grad(set_to_none=False)
    return history.tolist()
""",
    ),
    RightAnswer(
        id="train-by-closure",
        function="train",
        code="""
def train(model, batch, updates, lr):
    model.train()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    def slope():
        model.zero_grad()
        loss = recall_loss(model(*batch[:3])[0], batch[3])
        loss.backward()
        return loss
    return [optimiser.step(slope).item() for _ in range(updates)]
""",
    ),
    RightAnswer(
        id="value-by-hand",
        function="value_contribution",
        code="""
def value_contribution(model, ids, position):
    tables = {name: table.detach().double() for name, table in model.named_parameters()}
    X = tables["embedding"][ids]
    scores = X @ tables["W_k"] @ (X[-1] @ tables["W_q"]) / math.sqrt(tables["W_q"].shape[1])
    p = torch.exp(scores - scores.max())
    return p[position] / p.sum() * (X[position] @ tables["W_v"] @ tables["W_out"])
""",
    ),
    RightAnswer(
        id="value-read-with-gradients-then-detached",
        function="value_contribution",
        code="""
def value_contribution(model, ids, position):
    batch = ids.unsqueeze(0), torch.ones_like(ids).bool().unsqueeze(0), torch.tensor([-1]) + len(ids)
    weights = model(*batch)[1][0]
    table = weights[:, None] * (model.embedding[ids] @ model.W_v) @ model.W_out
    return table[position].detach()
""",
    ),
)
