"""Assignment 01: what people get wrong, and right answers that look unusual."""

from course_lib.grading.catalogue import Mistake, RightAnswer

MISTAKES = (
    Mistake(
        id="softmax-axis-0",
        function="softmax",
        cause="softmax runs down the columns",
        code="""
def softmax(scores):
    e = np.exp(scores - scores.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)
""",
        fails=("ordinary", "large scores", "any input"),
        behaviour="ordinary",
        case="a table",
        question="Your weights are what comes out when each column sums to 1 (axis 0). Which axis holds the keys?",
    ),
)

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
)
