"""Notebooks that hold what they should not, or not what they should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cheats.cheat import Change

from .entry import Broken, code_cells, data, named


def _each(change: Callable[[Any], None]) -> Change:
    return data(lambda nb: [change(cell) for cell in nb["cells"]] and None)


def _kernel(**spec: str) -> Change:
    return data(lambda nb: nb["metadata"].update(kernelspec=spec))


def _twice(name: str) -> Change:
    return data(
        lambda nb: nb["cells"].insert(nb["cells"].index(named(nb, name)), dict(named(nb, name), id="copy"))
    )


def _marks(name: str, **changes: object) -> Change:
    return data(lambda nb: named(nb, name)["metadata"]["nbgrader"].update(changes))


def _attached(name: str, picture: object) -> Change:
    words = {"cell_type": "markdown", "id": "w", "metadata": {}, "source": f"![](attachment:{name})"}
    return data(lambda nb: nb["cells"].append(words | {"attachments": {name: {"image/png": picture}}}))


def _nested(depth: int) -> dict[str, Any]:
    """Objects in objects."""
    nested: dict[str, Any] = {}
    for _ in range(depth):
        nested = {"a": nested}
    return nested


def _split(nb: Any) -> None:
    cell = named(nb, "softmax")
    lines = cell["source"] if isinstance(cell["source"], list) else cell["source"].splitlines(keepends=True)
    where = nb["cells"].index(cell)
    nb["cells"].insert(
        where + 1,
        {
            "cell_type": "code",
            "id": "rest",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": "".join(lines),
        },
    )
    cell["source"] = "# my answer stands below"


COLAB = {
    "colab": {"provenance": [], "toc_visible": True},
    "accelerator": "GPU",
    "kernelspec": {"name": "python3", "display_name": "Python 3"},
}
KAGGLE = {
    "kaggle": {"accelerator": "none", "dataSources": []},
    "kernelspec": {"name": "python3", "language": "python"},
}
VS_CODE = {
    "vscode": {"interpreter": {"hash": "31f2aee4"}},
    "kernelspec": {"name": "python3", "display_name": ".venv"},
}

NOTEBOOKS = [
    Broken("null-cells", "null for its cells", data(lambda nb: nb.update(cells=None)), 0, "without cells"),
    Broken(
        "dict-cells",
        "an object for its cells",
        data(lambda nb: nb.update(cells={"0": nb["cells"][0]})),
        0,
        "without cells",
    ),
    Broken("no-cells", "no cells", data(lambda nb: nb.update(cells=[])), 0, "without cells"),
    Broken("text-cell", "a text for a cell", data(lambda nb: nb["cells"].append("x = 1")), says="left out"),
    Broken(
        "source-number",
        "a number for a source",
        data(lambda nb: nb["cells"][0].update(source=7)),
        says="left out",
    ),
    Broken("source-lines", "sources as lists", _each(lambda c: c.update(source=list("".join(c["source"]))))),
    Broken(
        "no-metadata", "a cell without metadata", data(lambda nb: nb["cells"][0].pop("metadata") and None)
    ),
    Broken(
        "no-outputs",
        "code without outputs",
        data(lambda nb: [c.pop("outputs") for c in code_cells(nb)] and None),
    ),
    Broken(
        "odd-outputs", "an output that is none", data(lambda nb: code_cells(nb)[0].update(outputs=[{"a": 1}]))
    ),
    Broken(
        "unknown-type",
        "a cell of type “slide”",
        data(lambda nb: nb["cells"].append({"cell_type": "slide", "id": "s", "metadata": {}, "source": "x"})),
    ),
    Broken("same-ids", "one id for all cells", _each(lambda c: c.update(id="same"))),
    Broken("bad-ids", "ids that are not allowed", _each(lambda c: c.update(id="a b/ü" * 30))),
    Broken("kernel-r", "a kernel for R", _kernel(name="ir", display_name="R", language="R")),
    Broken("kernel-unknown", "a kernel that nobody has", _kernel(name="my-env", display_name="my env")),
    Broken("kernel-text", "a text for a kernel", data(lambda nb: nb["metadata"].update(kernelspec="python"))),
    Broken(
        "language",
        "a notebook in Julia",
        data(lambda nb: nb["metadata"].update(language_info={"name": "julia"})),
    ),
    Broken("colab", "metadata of Colab", data(lambda nb: nb.update(metadata=COLAB, nbformat_minor=0))),
    Broken("kaggle", "metadata of Kaggle", data(lambda nb: nb.update(metadata=KAGGLE))),
    Broken("vs-code", "metadata of VS Code", data(lambda nb: nb.update(metadata=VS_CODE, nbformat_minor=2))),
    Broken(
        "widgets",
        "state of widgets",
        data(
            lambda nb: nb["metadata"].update(
                widgets={
                    "application/vnd.jupyter.widget-state+json": {"state": {"a": {"x": "y" * 1_000_000}}}
                }
            )
        ),
    ),
    Broken("test-twice", "a copied test cell", _twice("softmax-ordinary"), says="copy of the cell"),
    Broken("answer-twice", "a copied answer", _twice("softmax"), says="several answer cells softmax"),
    Broken("answer-split", "an answer in a cell beside its own", data(_split)),
    Broken(
        "answer-as-text",
        "an answer in a Markdown cell",
        data(lambda nb: named(nb, "softmax").update(cell_type="markdown")),
        says="was a markdown cell",
    ),
    Broken(
        "test-as-text",
        "a test in a raw cell",
        data(lambda nb: named(nb, "softmax-ordinary").update(cell_type="raw")),
    ),
    Broken(
        "test-renamed",
        "a test under another id",
        _marks("softmax-ordinary", grade_id="softmax-easy"),
        says="recognised by its text",
    ),
    Broken(
        "look-alike",
        "an id with a letter that looks the same",
        _marks("softmax-ordinary", grade_id="sоftmax-ordinary"),
        says="recognised by its text",
    ),
    Broken(
        "grade-off",
        "a test that is said to be none",
        _marks("softmax-ordinary", grade=False),
        says="flags had been changed",
    ),
    Broken(
        "old-schema",
        "metadata of an old nbgrader",
        _marks("softmax", schema_version=1),
        says="format had been changed",
    ),
    Broken(
        "new-schema",
        "metadata of a future nbgrader",
        _marks("softmax", schema_version=99),
        says="format had been changed",
    ),
    Broken(
        "odd-marks",
        "a list for nbgrader's metadata",
        data(lambda nb: nb["cells"][0]["metadata"].update(nbgrader=[1, 2])),
    ),
    Broken(
        "many-points",
        "a test that says 10²⁰ points",
        _marks("softmax-ordinary", points=1e20),
        says="points had been changed",
    ),
    Broken("reversed", "all cells in reverse", data(lambda nb: nb["cells"].reverse()), 0, "moved behind"),
    Broken("half-letter", "half a letter of UTF-16", data(lambda nb: nb["cells"][0].update(source="\ud800"))),
    Broken("picture-of-numbers", "a number for a line of a picture", _attached("a.png", [1])),
    Broken("half-letter-name", "half a letter in the name of a picture", _attached("\ud800.png", "aGk=")),
    Broken(
        "deep-marks",
        "objects in objects for the points of a test",
        data(lambda nb: named(nb, "softmax-ordinary")["metadata"]["nbgrader"].update(points=_nested(600))),
        says="points had been changed",
    ),
    Broken(
        "nul-in-code",
        "a zero byte in a cell of its own",
        data(
            lambda nb: nb["cells"].append(
                {
                    "cell_type": "code",
                    "id": "z",
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                    "source": "x = '\x00'",
                }
            )
        ),
    ),
    Broken(
        "many-cells",
        "a thousand cells",
        data(
            lambda nb: nb["cells"].extend(
                {"cell_type": "markdown", "id": f"m{i}", "metadata": {}, "source": "x"} for i in range(1000)
            )
        ),
    ),
]
