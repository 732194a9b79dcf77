"""The claim that nothing a student writes acts on the page that comes back: each attack, in every place."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from html.parser import HTMLParser

import pytest
from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course_lib.checks.judge import Verdict
from course_lib.grading.feedback_formula import formula
from course_lib.grading.feedback_html import HERE, FeedbackPage
from course_lib.grading.feedback_page import FoldTests
from course_lib.grading.verdicts import written

TAGS = re.compile(
    "html|head|meta|title|style|body|header|nav|main|section|p|ul|ol|li|a|div|strong|h[1-6]|pre|span|code|em|del|br|"
    "hr|blockquote|table|caption|thead|tbody|tr|th|td|img|input|dl|dt|dd|details|summary|sub|sup"
)
FORMULA = re.compile("math|m(frac|i|n|o|over|padded|row|space|sqrt|style|sub|sup|table|tr|td|text|under)")
ATTRIBUTES = re.compile(
    "lang|charset|name|content|http-equiv|class|id|aria-label|role|scope|alt|src|href|title|type|disabled|start"
)
LAYOUT = re.compile(
    "xmlns|display|displaystyle|mathvariant|mathcolor|stretchy|(row|column)(spacing|align)|fence"
)
ADDRESSES = {"img": r"data:image/(png|jpeg|gif);base64,[A-Za-z0-9+/=]+", "a": r"#.*|https?://.*|mailto:.*"}
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "Text <b onmouseover=alert(1)>bold</b>",
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<details open ontoggle=alert(1)>",
    "<details/onclick=alert(1)>",
    "<math><mtext><style><img src onerror=alert(1)></style></mtext></math>",
    "<math href='javascript:alert(1)'><mi onclick=alert(1)>x</mi></math>",
    "<style>body { background: url(https://evil/x) }</style>",
    "</style></pre></title></textarea><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onclick='alert(1)",
    '" onclick="alert(1)',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<base href=https://evil/><link rel=stylesheet href=https://evil/x>",
    "<meta http-equiv=refresh content='0;url=https://evil/'>",
    "<form action=https://evil/><input name=x></form>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[><img src=x onerror=alert(1)>]]>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x onerror=alert(1)&#62;",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1)) [x](&#106;avascript:alert(1)) [x](%6aavascript:alert(1))",
    "[x]( \x01javascript:alert(1)) <javascript:alert(1)>",
    "[x][y]\n\n[y]: javascript:alert(1) 'z'",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x) [x](file:///etc/passwd) [x](//evil/x)",
    "[x](https://evil/\"onclick=alert(1) '\" onclick=alert(1)')",
    "![x](https://evil/x.png)",
    "![x](//evil/x.png) ![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![" onerror="alert(1)](attachment:x.png)',
    "![<img src=x onerror=alert(1)>](attachment:x.png '\" onerror=\"alert(1)')",
    "![x](attachment:vector) ![x](attachment:broken)",
    "```mermaid\n<img src=x onerror=alert(1)>\n```",
    '```"onclick=alert(1)\n<img src=x onerror=alert(1)>\n```',
    "```html\n<img src=x onerror=alert(1)>\n```",
    "|a|b|\n|:-:|--:|\n|<img src=x onerror=alert(1)>|2|",
    "# <img src=x onerror=alert(1)> {#id onclick=alert(1)}",
    r"$\DeclareMathOperator{\foo}{< img/src=x/onerror=alert(1)>}\foo$",
    r"$$\DeclareMathOperator{\foo}{</ math>< script>alert(1)</ script>}\foo$$",
    r"$\style{background-image:url(https://evil/x)}{x}$",
    r"$\class{total}{x}$ $\href{javascript:alert(1)}{x}$",
    r"$\color{red\" onclick=alert(1)}x$ $\color{url(https://evil/x)}{x}$",
    r"$\text{<img src=x onerror=alert(1)>}$ $\text{&lt;img src=x onerror=alert(1)&gt;}$",
    r"$\unicode{x3c}img src=x onerror=alert(1)\unicode{x3e}$",
    r"\begin{align}\text{<script>alert(1)</script>}\end{align}",
    "\x1b[31m<img src=x onerror=alert(1)>\x1b[0m",
    "\x1b[38;2;1;2;3mcolour\x1b[0m \x1b[48;5;3mcolour\x1b[0m",
    "\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07",
    "{{ 7 * 7 }}{% raw %}<img src=x onerror=alert(1)>",
]


class Seen(HTMLParser):
    """What a browser would find in a page that may act or ask."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.styles: list[str] = []
        self.tag, self.metas = "", 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tag = tag
        self.metas += tag == "meta"
        allowed = ATTRIBUTES if TAGS.fullmatch(tag) else LAYOUT
        self.wrong += [] if TAGS.fullmatch(tag) or FORMULA.fullmatch(tag) else [tag]
        self.wrong += [
            f"{tag} {name}={value}" for name, value in attrs if not self._is_good(allowed, name, value)
        ]

    def _is_good(self, allowed: re.Pattern[str], name: str, value: str | None) -> bool:
        if name in ("src", "href"):
            return re.fullmatch(ADDRESSES.get(self.tag, "never"), value or "", re.DOTALL) is not None
        return allowed.fullmatch(name) is not None

    def handle_endtag(self, tag: str) -> None:
        self.tag = ""

    def handle_data(self, data: str) -> None:
        if self.tag == "style":
            self.styles.append(data)


def _marked(cell: NotebookNode, name: str, **marks: object) -> NotebookNode:
    flags = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {"grade_id": name, **flags, **marks}
    return cell


def _page(text: str) -> str:
    """A page of a student who writes a text in every place that they can reach, and some that they cannot."""
    verdict = Verdict("softmax", text, text, 2, passed=[text])
    verdict.failed, verdict.sentence = text, text
    outputs = [
        new_output("stream", text=text),
        new_output("error", ename=text, evalue=text, traceback=[text]),
        new_output("display_data", {"text/plain": text, "text/html": text, "image/svg+xml": text}),
        new_output("display_data", {"image/png": text, "text/plain": text}),
    ]
    attached = {
        "x.png": {"image/png": _png()},
        text: {"image/png": text},
        "vector": {"image/svg+xml": "PHN2Zz4="},
    }
    attached["broken"] = {"image/png": '" onerror="alert(1)', "text/html": text}
    words = from_dict({**new_markdown_cell(text), "attachments": attached})
    raw = from_dict({**new_markdown_cell(text), "cell_type": "raw"})
    cells = [
        _marked(new_code_cell(text, outputs=outputs), f"soft{text}", solution=True, comment=text),
        _marked(
            new_code_cell("collect()", outputs=written(verdict)),
            f"soft{text}-1",
            grade=True,
            locked=True,
            score=0,
            points=2,
        ),
        new_markdown_cell(f"## {text}"),
        _marked(words, "why", grade=True, solution=True, score=1, points=2, comment=text),
        raw,
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata.update(
        course={"repairs": [text], "unreadable": text},
        language_info={"name": text, "pygments_lexer": text},
        title=text,
    )
    for cell in cells:
        cell.metadata["magics_language"] = text
    marks = {"notebook": "01_soft_lookup", "score": 3.0, "max_score": 8.0, "late_penalty": 0}
    notebook, resources = FoldTests().preprocess(notebook, {"nbgrader": marks})
    return FeedbackPage().from_notebook_node(notebook, resources)[0]


def _png() -> str:
    """A picture of one grey point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\x80")), chunk(b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_student_writes_acts_or_asks(attack: str) -> None:
    seen = Seen(_page(attack))
    assert seen.wrong == []
    assert seen.metas == 4  # ours
    assert "".join(seen.styles) == (HERE / "feedback_page.css").read_text(encoding="utf-8")


def test_the_parser_sees_what_would_act() -> None:
    for bad in ("<script>", "<p onclick=x>", "<p style=x>", "<img src=https://x/y>", "<a href=javascript:x>"):
        assert Seen(bad).wrong


def test_the_page_forbids_scripts_requests_and_any_style_but_its_own() -> None:
    page = _page("x")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    style = hashlib.sha256("".join(Seen(page).styles).encode()).digest()
    allowed = f"default-src 'none'; img-src data:; style-src 'sha256-{base64.b64encode(style).decode()}'"
    assert policy.startswith(allowed)


def test_a_picture_that_was_pasted_is_shown() -> None:
    page = _page("![a diagram](attachment:x.png)")
    assert f'<img alt="a diagram" src="data:image/png;base64,{_png()}"/>' in page


@pytest.mark.parametrize("name", ["vector", "broken", "gone"])
def test_another_attachment_is_only_named(name: str) -> None:
    page = _page(f"![a diagram](attachment:{name})")
    assert "<img" not in page
    assert f"a diagram (<code>attachment:{name}</code>)" in page


def test_the_hints_of_an_exercise_stay_folded() -> None:
    page = _page("<details>\n<summary>Hint 1</summary>\n\nDivide.\n</details>")
    assert "<details>" in page
    assert "<summary>Hint 1</summary>" in page


@pytest.mark.parametrize("tex", [r"a < b", "a &lt; b"])
def test_less_than_in_a_formula_is_a_sign(tex: str) -> None:
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in formula(tex, "inline")


def test_a_formula_keeps_its_colour_and_its_characters() -> None:
    made = formula(r"\color{red}{\alpha \le \text{a & b}}", "block")
    assert 'mathcolor="red"' in made
    assert "α" in made
    assert "≤" in made
    assert "a\N{NO-BREAK SPACE}&amp;\N{NO-BREAK SPACE}b" in made
