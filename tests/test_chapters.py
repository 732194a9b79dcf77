"""Each chapter has the shape that the course promises, and nothing in it leads nowhere."""

import ast
import builtins
import re
import statistics
from pathlib import Path

import pytest

from course_lib import notebooks
from prose import links, target, words

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = sorted(ROOT.glob("notebooks/0*.ipynb"))
GLOSSARY = ROOT / "notebooks" / "glossary.ipynb"
EXERCISES = sorted(ROOT.glob("exercises/*/*.ipynb"))
MAX_CODE_LINES, MAX_WORDS = 25, 80

MOVABLE = {
    1: ["soft-lookup", "kernel-smoother"],
    2: ["query-row"],
    3: ["width-sweep"],
    4: ["mask-editor"],
    5: ["heads"],
    6: ["recall-training"],
    7: ["recent-colour", "two-layers"],
}
each_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize(
    "path", [*CHAPTERS, GLOSSARY, *EXERCISES], ids=lambda path: f"{path.parent.name}-{path.stem}"
)


def cells(path, kind):
    return [cell for cell in notebooks.read(path).cells if cell.cell_type == kind]


def test_there_are_chapters_and_each_has_its_exercise():
    assert [path.stem for path in CHAPTERS] == [path.stem for path in EXERCISES]
    assert len(CHAPTERS) >= 3


@each_chapter
def test_code_cells_are_short(path):
    lengths = {
        cell.id: sum(bool(line.strip()) for line in cell.source.splitlines()) for cell in cells(path, "code")
    }
    assert 4 <= statistics.median(lengths.values()) <= 8
    assert {cell: length for cell, length in lengths.items() if length > MAX_CODE_LINES} == {}


@each_chapter
def test_prose_is_short_and_not_outnumbered_by_code(path):
    prose = cells(path, "markdown")
    long = {cell.id: words(cell.source) for cell in prose if not cell.source.startswith("## References")}
    assert {cell: count for cell, count in long.items() if count >= MAX_WORDS} == {}
    assert len(prose) >= len(cells(path, "code"))


@each_chapter
def test_no_line_of_prose_begins_like_an_item_of_a_numbered_list_by_accident(path):
    for cell in cells(path, "markdown"):
        numbers = re.findall(r"^\s*(\d+)[.)] ", cell.source, flags=re.MULTILINE)
        assert all(int(number) < 10 for number in numbers), cell.id  # such as a year; JupyterLab makes a list


@each_chapter
def test_printed_lines_fit_beside_the_file_browser_in_a_window_of_1280_pixels(path):
    for cell in cells(path, "code"):
        printed = [output.text for output in cell.outputs if output.output_type == "stream"]
        assert all(len(line) <= 102 for text in printed for line in text.splitlines()), cell.id


@each_chapter
def test_the_title_is_a_question_with_goals_prerequisites_and_minutes(path):
    title, *rest = cells(path, "markdown")
    assert re.match(rf"# {int(path.stem[:2])} .*\?\s*$", title.source.splitlines()[0])
    opening = "\n".join([title.source, *(cell.source for cell in rest[:2])]).lower()
    for expected in ("you can", "before you start", "minutes, an estimate"):
        assert expected in opening, expected


@each_chapter
def test_it_says_where_people_go_wrong_what_next_and_its_references(path):
    prose = "\n".join(cell.source for cell in cells(path, "markdown"))
    for expected in (r"^## Where people go wrong", r"^## What next\?", r"^## References"):
        assert re.search(expected, prose, flags=re.MULTILINE), expected


@each_chapter
def test_it_asks_for_predictions_has_self_check_questions_and_one_figure_to_move(path):
    outputs = notebooks.outputs(notebooks.read(path))
    shown = [output.get("data", {}) for cell, output in outputs if "-closing-" not in cell.id]
    first_lines = [data.get("text/plain", "").split("\n")[0] for data in shown]
    assert 4 <= sum(line.startswith("Check yourself:") for line in first_lines) <= 6
    assert sum(line.startswith("Predict:") for line in first_lines) >= 3
    assert sum("<script" in data.get("text/html", "") for data in shown) >= 1


@each_chapter
def test_it_has_the_movable_figures_that_belong_to_it_and_a_table_beside_each_heat_map(path):
    shown = [
        output.get("data", {}).get("text/html", "")
        for _, output in notebooks.outputs(notebooks.read(path))
        if "data" in output
    ]
    movable = re.findall(r'<figure id="explore-([a-z-]+)-[0-9a-f]{8}"', "".join(shown))
    assert movable == MOVABLE[int(path.stem[:2])]
    for html in shown:
        if re.search(r'alt="(Heat map|Table)', html):
            assert re.search(r"<details>.*<table>.*</details>", html), html[:300]


@each_chapter
def test_where_digits_may_differ_between_machines_a_range_of_what_is_shown_is_asserted(path):
    for cell in cells(path, "code"):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert cell.outputs, f"{cell.id}: shows nothing, so nothing needs to be ignored"
            assert asserts_what_it_shows(cell.source), cell.id


def asserts_what_it_shows(source):
    """Whether an assertion in the code is about something that the rest of the code computes or shows."""
    tree = ast.parse(source)
    assertions = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    inside = [node for assertion in assertions for node in ast.walk(assertion)]
    outside = set(ast.walk(tree)) - set(inside)
    claimed, used = ({node.id for node in part if isinstance(node, ast.Name)} for part in (inside, outside))
    return bool((claimed & used) - set(dir(builtins)) - {"figures", "math", "torch"})


@pytest.mark.parametrize(
    ("source", "asserted"),
    [
        ("print(count)\nassert 3 < count", True),
        ("for count in counts:\n    print(count)\n    assert count < 5", True),
        ("figures.show(figures.curve(losses))\nassert losses.min() > 0", True),
        ("print(count)", False),
        ("print(count)\nassert other < 5", False),
        ("figures.show(figures.curve(losses))\nassert len(figures.names) > 2", False),
    ],
)
def test_an_assertion_about_something_else_is_none(source, asserted):
    assert asserts_what_it_shows(source) is asserted


@each_chapter
def test_the_code_of_questions_is_folded_so_that_the_answer_is_not_seen_first(path):
    for cell in cells(path, "code"):
        if re.match(r"(quiz\.)?(predict|question)\(", cell.source):
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), cell.id
            # JupyterLab shows the first line of folded code.
            assert cell.source.splitlines()[0].endswith("("), cell.id


def test_the_last_chapter_closes_with_a_question_on_each_chapter():
    outputs = notebooks.outputs(notebooks.read(CHAPTERS[-1]))
    asked = [output["data"]["text/plain"] for cell, output in outputs if "-closing-" in cell.id]
    for number in range(1, len(CHAPTERS) + 1):
        assert any(text.startswith(f"Check yourself: Chapter {number}.") for text in asked), number


@each_chapter
def test_each_chapter_leads_to_the_glossary(path):
    (what_next,) = [
        cell.source for cell in cells(path, "markdown") if cell.source.startswith("## What next?")
    ]
    assert GLOSSARY.name in links(what_next)


def test_the_glossary_is_text_and_links_each_term_to_a_heading_of_a_chapter():
    glossary = notebooks.read(GLOSSARY)
    assert {cell.cell_type for cell in glossary.cells} == {"markdown"}
    terms = [line for cell in glossary.cells for line in cell.source.splitlines() if line.startswith("- **")]
    assert len(terms) >= 50
    headings = {path.name: set(headings_of(path)) for path in CHAPTERS}
    linked = set()
    for term in terms:
        (found,) = re.findall(r"\]\(([^)#]+)#([^)]+)\)", term)
        assert found[1] in headings[found[0]], term
        linked.add(found[0])
    assert linked == set(headings)


def headings_of(path):
    """The anchors of a notebook's headings, as JupyterLab makes them: hyphens for spaces."""
    prose = "\n".join(cell.source for cell in cells(path, "markdown"))
    return [heading.replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)]


@each_chapter
def test_outputs_are_those_of_a_fresh_run_without_errors_or_warnings(path):
    code = [cell for cell in cells(path, "code") if cell.source.strip()]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    kinds = {output.get("name", output.output_type) for _, output in notebooks.outputs(notebooks.read(path))}
    assert kinds <= {"stdout", "execute_result", "display_data"}


@each_notebook
def test_links_between_files_resolve(path):
    for cell in cells(path, "markdown"):
        for link in links(cell.source):
            assert target(link, path, ROOT).exists(), f"{cell.id}: {link}"


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/marking_security.md"])
def test_links_of_documents_resolve(document):
    for link in links((ROOT / document).read_text(encoding="utf-8")):
        assert target(link, ROOT / document, ROOT).exists(), link


@each_notebook
def test_pictures_have_alt_text_and_nothing_is_loaded_from_elsewhere(path):
    notebook = notebooks.read(path)
    html = [output.data.get("text/html", "") for _, output in notebooks.outputs(notebook) if "data" in output]
    html += [cell.source for cell in cells(path, "markdown")]
    for text in html:
        assert all(re.search(r'\balt="[^"]+"', tag) for tag in re.findall(r"<img\b[^>]*>", text))
        assert not re.search(r"!\[\s*\]\(", text)
        assert not re.search(r"""\b(src|srcset|poster)=["']?(https?:)?//|@import|<link\b""", text)
    assert not [
        cell.id for cell, output in notebooks.outputs(notebook) if "image/png" in output.get("data", {})
    ]


def test_the_readme_lists_every_chapter():
    listed = links((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [link for link in listed if link.endswith(".ipynb")] == [
        f"notebooks/{path.name}" for path in CHAPTERS
    ]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("02_queries_keys_values.ipynb", True),
        ("../work/01_soft_lookup/01_soft_lookup.ipynb", True),
        ("../exercises/01_soft_lookup/01_soft_lookup.ipynb#title", True),
        ("../work/09_none/09_none.ipynb", False),
        ("nowhere.md", False),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link, found):
    assert links(f"See [it]({link}), [the web](https://example.org) and [above](#top).") == [link]
    assert target(link, CHAPTERS[0], ROOT).exists() is found


def test_words_are_counted_without_code_links_and_rules():
    assert words("One [two](http://three.four) `five`.\n\n| - | - |\n```\nsix seven\n```\n") == 3
