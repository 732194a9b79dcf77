"""The movable figures' JavaScript and CSS are free of slips; with slips that the linter must find."""

import pytest

from lint_explore import FOLDER, css, javascript, main, sources

BASE = "const shown = (x) => x;\nfunction wake(id, explore, data) {\n  explore(shown(id), data);\n}\n"
FIGURE = "function explore(stage, data) {\n  stage.append(data);\n}\n"


def test_nothing_is_found():
    assert main() == 0


def test_files_without_a_slip_pass():
    assert javascript({"base.js": BASE, "a.js": FIGURE}) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "where"),
    [
        ("a.js", "stage.append(data)", "stage.append(dota)", "a.js:2"),
        ("a.js", "  stage", "  var x = 1;\n  stage", "a.js:2"),
        ("a.js", "  stage", "  const x = 1;\n  stage", "a.js:2"),
        ("a.js", "stage.append(data)", "if (data == 1) stage.append(1)", "a.js:2"),
        ("base.js", "shown(id)", "id", "base.js:1"),
        ("base.js", "explore(shown(id), data)", "explore(shown(id), data", ""),
    ],
)
def test_a_slip_is_found_where_it_is(name, old, new, where):
    files = {"base.js": BASE, "a.js": FIGURE}
    assert old in files[name]
    found = javascript(files | {name: files[name].replace(old, new)})
    assert found
    assert found[0].startswith(where)


def test_every_figure_is_linted():
    assert {path.name for path in FOLDER.glob("*.js")} == set(sources())
    assert len(sources()) >= 10


@pytest.mark.parametrize("text", ["p { color red; }", "p { : red }", "@media print { p { color red } }"])
def test_a_slip_in_css_is_found(text):
    assert css("a { top: 0; } @media print { p { color: red } }") == []
    assert css(text)
