"""What a class handed in on a platform comes to where nbgrader looks, whatever its files are called."""

import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.command import main
from course_lib.errors import CourseError
from course_lib.term import archives, collect
from course_lib.term.platforms import PLATFORMS, parse_time
from course_lib.term.roster import Clues, read_roster

NAME = "01_soft_lookup"
ROSTER = """id,first_name,last_name,email,login,lms_user_id
s1,Ann Mary,Lee,ann.lee@uni.example,alee,501
s2,Zoë,O’Brien-Müller,zoe@uni.example,zobrien,502
s3,Łukasz,Żak,lukasz@uni.example,lzak,503
s4,Ann,Lee Fung,annlf@uni.example,annlf,504
"""
METADATA = """
submission_11:
  :submitters:
  - :name: Ann Mary Lee
    :sid: s1
    :email: ann.lee@uni.example
  :created_at: 2026-03-01 22:59:00.123456789 Z
submission_12:
  :submitters:
  - :name: Nobody Known
    :sid: '999'
    :email: Zoe@Uni.example
  - :name: Łukasz Żak
    :sid: s3
    :email:
  :created_at: 2026-03-02 01:00:00.000000000 Z
submission_13:
  :submitters:
  - :name: Stranger
    :sid: s77
    :email: stranger@else.example
  :created_at: 2026-03-02 01:00:00.000000000 Z
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """An empty course with a roster, in which commands run."""
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pack(path, files, times=None):
    """An archive of files by path; their content is text or bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (times or {}).get(name, (2026, 3, 1, 12, 0, 0)))
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def taken(course, platform, *packed, **options):
    """Collect; what became of everything."""
    roster = read_roster(course / "roster.csv")
    return collect.collect(course, NAME, list(packed), platform, roster, **options)


def text(course, student, name=f"{NAME}.ipynb"):
    return (course / "submitted" / student / NAME / name).read_text(encoding="utf-8")


def student(roster, **clues):
    found = roster.find(Clues(**clues))
    return found and found.id


@pytest.mark.parametrize("end", ["_file", "_file_"])
def test_moodle_folders_are_found_by_participant_and_by_name(course, end):
    files = {
        f"Somebody Else_501_assignsubmission{end}/{NAME}.ipynb": "one",
        f"O’Brien-Müller Zoe_77_assignsubmission{end}/{NAME}.ipynb": "two",
        f"Łukasz Żak_78_assignsubmission{end}/sub/{NAME}.ipynb": "three",
        f"Team A-Ann Lee Fung_79_assignsubmission{end}/{NAME}.ipynb": "four",
    }
    report = taken(course, "moodle", pack(course / "m.zip", files))
    assert [text(course, id) for id in ("s1", "s2", "s3", "s4")] == ["one", "two", "three", "four"]
    assert (report.unmatched, report.refused, report.aside, report.absent) == ([], [], [], [])


def test_moodle_without_folders_and_with_anonymous_marking(course):
    files = {
        f"Participant_501_assignsubmission_file_{NAME}.ipynb": "one",
        "Zoë O’Brien-Müller_9_assignsubmission_file_my work.ipynb": "two",
    }
    report = taken(course, "moodle", pack(course / "m.zip", files))
    assert (text(course, "s1"), text(course, "s2")) == ("one", "two")
    assert report.absent == ["s3", "s4"]


def test_moodles_worksheet_is_a_roster_and_tells_when_something_came(course):
    rows = (
        "Identifier,Full name,ID number,Email address,Status,Last modified (submission)\n"
        'Participant 77,Ann Lee,s1,a@x,"Submitted","Sunday, 1 March 2026, 10:59 PM"\n'
        "Participant 78,Ann Lee,,b@x,No submission,-\n"
    )
    (course / "roster.csv").write_text("\ufeff" + rows, encoding="utf-8")
    files = {
        f"Ann Lee_77_assignsubmission_file/{NAME}.ipynb": "one",
        "Ann Lee_78_assignsubmission_file/x.ipynb": "two",
    }
    due = parse_time("2026-03-01 22:58")
    report = taken(course, "moodle", pack(course / "m.zip", files), due=due)
    assert report.done == {"s1": "new, late", "b@x": "new"}
    assert parse_time(text(course, "s1", "timestamp.txt")) == parse_time("2026-03-01 22:59")
    assert not (course / "submitted/b@x" / NAME / "timestamp.txt").exists()


def test_canvas_files_are_found_by_user_number_or_name_and_late_ones_are_dated_after_the_deadline(course):
    files = {
        f"someoneelse_501_9001_{NAME}.ipynb": "one",
        f"obrienmüllerzoë_LATE_77_9002_{NAME}-1.ipynb": "two",
        "żakłukasz_78_text.html": "only words",
        f"anon_ab12c_9003_{NAME}.ipynb": "whose?",
    }
    due = parse_time("2026-03-01 23:59:00+00:00")
    report = taken(course, "canvas", pack(course / "c.zip", files), due=due)
    assert (text(course, "s1"), text(course, "s2")) == ("one", "two")
    assert text(course, "s2", "timestamp.txt") == "2026-03-01 23:59:01.000000 UTC"
    assert not (course / "submitted/s1" / NAME / "timestamp.txt").exists()
    assert [path.name for path in (course / "submitted/s3" / NAME).iterdir()] == ["żakłukasz_78_text.html"]
    assert report.unmatched == [f"c.zip: anon_ab12c_9003_{NAME}.ipynb"]


def test_what_canvas_calls_late_without_a_deadline_is_named(course):
    packed = pack(course / "c.zip", {f"leeannmary_LATE_501_9_{NAME}.ipynb": "x"})
    report = taken(course, "canvas", packed)
    assert report.undated == ["s1"]
    assert report.done == {"s1": "new, late"}


def test_canvas_export_of_the_gradebook_is_a_roster(course):
    rows = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Old (1)\n"
        "    Points Possible,,,,,10\n"
        '"Lee, Ann",4711,s9,alee,All,\n'
    )
    (course / "roster.csv").write_text(rows, encoding="utf-8")
    roster = read_roster(course / "roster.csv")
    assert list(roster.students) == ["s9"]
    assert (
        student(roster, number="4711")
        == student(roster, names=["leeann"])
        == student(roster, ids=["ALEE"])
        == "s9"
    )


def test_gradescope_is_found_by_its_list_for_every_member_of_a_group_with_times(course):
    files = {
        "assignment_7_export/submission_metadata.yml": METADATA,
        f"assignment_7_export/submission_11/{NAME}.ipynb": "one",
        f"assignment_7_export/submission_12/{NAME}.ipynb": "two",
        f"assignment_7_export/submission_13/{NAME}.ipynb": "stranger",
    }
    report = taken(
        course, "gradescope", pack(course / "g.zip", files), due=parse_time("2026-03-02 00:00 UTC")
    )
    assert text(course, "s1", "timestamp.txt") == "2026-03-01 22:59:00.123456 UTC"
    assert text(course, "s2") == text(course, "s3") == "two"
    assert report.done == {"s1": "new", "s2": "new, late", "s3": "new, late"}
    assert report.unmatched == [f"g.zip: assignment_7_export/submission_13/{NAME}.ipynb"]


def test_what_ruby_tags_as_its_own_in_gradescopes_list_is_plain_data_and_nothing_is_run(course):
    time = "!ruby/object:ActiveSupport::TimeWithZone\n    utc: 2026-03-01 22:59:00.5 Z\n    zone: x"
    tagged = METADATA.replace("2026-03-01 22:59:00.123456789 Z", time)
    tagged += "  :score: !ruby/object:BigDecimal 18:0.4e1\n"
    files = {"x/submission_metadata.yml": tagged, f"x/submission_11/{NAME}.ipynb": "one"}
    assert taken(course, "gradescope", pack(course / "g.zip", files)).done == {"s1": "new"}
    assert text(course, "s1", "timestamp.txt") == "2026-03-01 22:59:00.500000 UTC"
    evil = "submission_11: !!python/object/apply:os.system ['touch evil']\n"
    with pytest.raises(CourseError, match=r"g.zip: submission_metadata.yml cannot be read"):
        taken(course, "gradescope", pack(course / "g.zip", {"submission_metadata.yml": evil}))
    assert not (course / "evil").exists()


def test_gradescope_without_its_list_is_one_line(course):
    packed = pack(course / "g.zip", {f"assignment_7_export/submission_11/{NAME}.ipynb": "one"})
    with pytest.raises(CourseError, match=r"g.zip: no submission_metadata.yml"):
        taken(course, "gradescope", packed)
    assert not (course / "submitted").exists()


def test_google_files_are_found_by_the_name_in_front_or_by_a_login_in_the_name(course):
    files = {
        "Soft lookup/Ann Mary Lee - 01_soft_lookup.ipynb": "one",
        "Soft lookup/01 soft lookup (zobrien).ipynb": "two",
        "Soft lookup/Untitled.ipynb": "whose?",
        "Soft lookup/lukasz@uni.example_01.ipynb": "three",
    }
    report = taken(course, "google", pack(course / "g.zip", files))
    assert [text(course, id) for id in ("s1", "s2", "s3")] == ["one", "two", "three"]
    assert report.unmatched == ["g.zip: Soft lookup/Untitled.ipynb"]
    assert (course / "submitted/s1" / NAME / "timestamp.txt").exists()


@pytest.mark.parametrize(
    ("clues", "id"),
    [
        ({"names": ["Ann Lee"]}, None),
        ({"names": ["Lee, Ann Mary"]}, "s1"),
        ({"names": ["ZOE O'BRIEN-MULLER"]}, "s2"),
        ({"emails": ["ANNLF@uni.example"], "names": ["Ann Mary Lee"]}, "s4"),
        ({"words": "salee_501x"}, None),
        ({"words": "work of alee and zobrien"}, None),
        ({"words": "hw-alee(2).ipynb"}, "s1"),
        ({"number": "501", "names": ["Zoë O’Brien-Müller"]}, "s1"),
        ({}, None),
    ],
)
def test_a_student_is_found_only_where_the_clue_means_one(course, clues, id):
    assert student(read_roster(course / "roster.csv"), **clues) == id


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("", "none of its headings"),
        ("name\nAnn\n", "none of its headings"),
        ("id\n", "no student"),
        ("id\n../x\n", "line 2: '../x' cannot be"),
        ("id\na\na\n", "line 3: a is there twice"),
        ("id\n=1+1\n", "cannot be"),
        ('id,email\n,\n"a\n', "not a CSV"),
    ],
)
def test_a_bad_roster_is_told_by_its_line(course, rows, reason):
    (course / "roster.csv").write_text(rows, encoding="utf-8")
    with pytest.raises(CourseError, match=reason):
        read_roster(course / "roster.csv")


def test_a_roster_with_semicolons_as_excel_writes_it(course):
    (course / "roster.csv").write_text("id;first_name;last_name\ns1;Ann;Lee\n", encoding="utf-8")
    assert student(read_roster(course / "roster.csv"), names=["Ann Lee"]) == "s1"


def test_of_two_files_that_of_the_assignments_name_counts_and_the_other_is_named(course):
    folder = "Ann Mary Lee_501_assignsubmission_file"
    files = {f"{folder}/{NAME} (2).ipynb": "mine", f"{folder}/scratch.ipynb": "no", f"{folder}/a.pdf": "no"}
    report = taken(course, "moodle", pack(course / "m.zip", files))
    assert text(course, "s1") == "mine"
    assert [line.split(": ")[1] for line in report.aside] == [
        f"{folder}/scratch.ipynb (another file counts)",
        f"{folder}/a.pdf (another file counts)",
    ]


def test_the_latest_attempt_counts_by_time_and_without_times_the_latest_archive(course):
    early, late = METADATA, METADATA.replace("submission_11", "submission_9").replace("22:59", "23:30")
    one = {"x/submission_metadata.yml": late, f"x/submission_9/{NAME}.ipynb": "late"}
    two = {"x/submission_metadata.yml": early, f"x/submission_11/{NAME}.ipynb": "early"}
    report = taken(course, "gradescope", pack(course / "1.zip", one), pack(course / "2.zip", two))
    assert text(course, "s1") == "late"
    assert report.aside == [f"s1: x/submission_11/{NAME}.ipynb (an earlier attempt)"]
    first = pack(course / "a.zip", {f"lee_502_1_{NAME}.ipynb": "first"})
    second = pack(course / "b.zip", {f"lee_502_2_{NAME}-1.ipynb": "second"})
    taken(course, "canvas", first, second)
    assert text(course, "s2") == "second"


def test_what_was_there_is_kept_and_the_same_again_changes_nothing(course):
    packed = [pack(course / f"{word}.zip", {f"lee_501_1_{NAME}.ipynb": word}) for word in ("a", "b", "c")]
    said = [taken(course, "canvas", each).done["s1"] for each in (packed[0], packed[0], packed[1], packed[2])]
    kept = f"submitted_before/s1/{NAME}"
    assert said == ["new", "unchanged", f"replaced; before: {kept}/1", f"replaced; before: {kept}/2"]
    assert [(course / kept / number / f"{NAME}.ipynb").read_text() for number in "12"] == ["a", "b"]
    assert [path.name for path in (course / "submitted").iterdir()] == ["s1"]


def test_an_older_download_does_not_take_the_place_of_a_newer_one(course):
    def packed(minute):
        name = f"Ann Mary Lee - {NAME}.ipynb"
        return pack(course / "g.zip", {name: f"of {minute}"}, {name: (2026, 3, 1, 12, minute, 0)})

    taken(course, "google", packed(30))
    assert taken(course, "google", packed(10)).done == {"s1": "unchanged: what is there is newer"}
    assert text(course, "s1") == "of 30"


def test_a_zip_in_a_zip_is_opened_once_and_junk_of_other_systems_is_passed_over(course):
    innermost = pack(course / "i.zip", {"x.ipynb": "deep"}).read_bytes()
    files = {
        f"work\\{NAME}.ipynb": "mine",
        f"__MACOSX/work/._{NAME}.ipynb": "junk",
        f".ipynb_checkpoints/{NAME}.ipynb": "old",
        "more.zip": innermost,
    }
    inner = pack(course / "w.zip", files).read_bytes()
    report = taken(course, "canvas", pack(course / "c.zip", {"lee_501_1_work.ZIP": inner}))
    assert text(course, "s1") == "mine"
    assert report.refused == [
        "c.zip: lee_501_1_work.ZIP/more.zip (s1): an archive in an archive in an archive"
    ]
    assert report.aside == []


def test_bombs_are_refused_and_everybody_else_is_collected(course, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 10_000)
    bomb = pack(course / "b.zip", {"x.ipynb": b"\0" * 10_001}).read_bytes()
    files = {f"a_501_1_{NAME}.ipynb": b"\0" * 10_001, f"b_502_2_{NAME}.ipynb": "fine", "c_503_3_w.zip": bomb}
    report = taken(course, "canvas", pack(course / "c.zip", files))
    assert [line.split(" (")[0] for line in report.refused] == [
        f"c.zip: a_501_1_{NAME}.ipynb",
        "c.zip: c_503_3_w.zip/x.ipynb",
    ]
    assert "larger than" in report.refused[0]
    assert report.done == {"s2": "new"}
    assert report.absent == ["s4"]


def test_an_archive_that_lies_about_sizes_is_read_no_further_than_the_limit(course, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 10_000)
    path = pack(course / "c.zip", {f"a_501_1_{NAME}.ipynb": b"\0" * 10**6})
    data = path.read_bytes().replace(struct.pack("<I", 10**6), struct.pack("<I", 10))
    path.write_bytes(data)
    report = taken(course, "canvas", path)
    assert report.done == {} or len(text(course, "s1")) <= 10_000
    assert len(report.refused) + len(report.done) == 1


@pytest.mark.parametrize("limit", ["MAX_TOTAL", "MAX_ENTRIES"])
def test_the_whole_archive_is_limited_too(course, monkeypatch, limit):
    monkeypatch.setattr(archives, limit, 3)
    files = {f"{letter}_50{at}_1_{NAME}.ipynb": "ab" for at, letter in enumerate("abcd", start=1)}
    report = taken(course, "canvas", pack(course / "c.zip", files))
    assert report.refused
    assert "s4" not in report.done


@pytest.mark.parametrize(
    "name",
    [
        "../../s1_501_1_evil.ipynb",
        "/etc/a_501_1_x.ipynb",
        "a_501_1_x/../../../evil.ipynb",
        "C:\\a_501_1_x.ipynb",
        "..\\..\\a_501_1_x.ipynb",
    ],
)
def test_a_path_that_leads_out_is_refused_and_nothing_is_written_outside(course, name):
    before = {path for path in course.parent.rglob("*") if "submitted" not in path.parts}
    report = taken(course, "canvas", pack(course / "c.zip", {name: "evil"}))
    assert report.done == {}
    assert "its path leads out of the archive" in report.refused[0]
    assert {path for path in course.parent.rglob("*") if "submitted" not in path.parts} - before == {
        course / "c.zip"
    }


def test_links_encrypted_broken_and_strangely_packed_files_are_refused(course):
    path = course / "c.zip"
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo(f"a_501_1_{NAME}.ipynb")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("b_502_2_x.ipynb", "x" * 1000, zipfile.ZIP_LZMA)
        archive.writestr("c_503_3_x.zip", "no archive")
        archive.writestr("d_504_4_x.ipynb", "UNIQUE CONTENT")
    path.write_bytes(path.read_bytes().replace(b"UNIQUE", b"CHANGE"))
    report = taken(course, "canvas", path)
    reasons = ["a link or a device", "any amount of memory", "not a ZIP archive", "cannot be unpacked"]
    assert [reason for reason, line in zip(reasons, report.refused, strict=True) if reason not in line] == []
    assert report.done == {}


def test_names_in_utf_8_without_the_flag_that_says_so_are_read(course):
    name = "Zoë O’Brien-Müller_9_assignsubmission_file/x.ipynb".encode()
    stand_in = "x" * len(name)  # which needs no flag
    path = pack(course / "m.zip", {stand_in: "two"})
    path.write_bytes(path.read_bytes().replace(stand_in.encode(), name))
    taken(course, "moodle", path)
    assert text(course, "s2") == "two"


def test_every_platform_lists_what_it_cannot_place(course):
    for platform in PLATFORMS:
        files = {"x/submission_metadata.yml": METADATA, "x/odd": "1", "x/\x07 odd\n.ipynb": "2"}
        report = taken(course, platform, pack(course / "x.zip", files))
        assert report.done == {}
        assert report.unmatched == ["x.zip: x/odd", "x.zip: x/? odd?.ipynb"]


NAMES = st.text(alphabet="a1_-/\\\\. é\x07", min_size=1, max_size=12)
PREFIXES = st.sampled_from(
    [
        "",
        "Ann Mary Lee - ",
        "x_501_assignsubmission_file/",
        "x_502_9_",
        "y_LATE_503_9_",
        "../",
        "zobrien",
        "/",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(
        st.builds("{}{}{}".format, PREFIXES, NAMES, st.sampled_from(["", ".ipynb", ".zip"])), unique=True
    ),
    platform=st.sampled_from(["moodle", "canvas", "google"]),
)
def test_whatever_files_are_called_each_is_told_of_once_and_none_lands_elsewhere(names, platform):
    with tempfile.TemporaryDirectory() as place:
        course = Path(place)
        (course / "roster.csv").write_text(ROSTER, encoding="utf-8")
        report = taken(course, platform, pack(course / "x.zip", dict.fromkeys(names, "x")))
        last = [name.replace("\\", "/").rpartition("/")[2] for name in names]
        files = [
            name for name in last if name and not name.startswith("._")
        ]  # neither folders nor macOS's own
        told = [*report.done, *report.aside, *report.unmatched, *report.refused]
        assert len(told) == len(files)
        inside = {path.relative_to(course).parts[:3] for path in course.rglob("*") if path.is_file()}
        assert inside - {("x.zip",), ("roster.csv",)} == {("submitted", id, NAME) for id in report.done}


def test_the_command_tells_what_became_of_everything_and_takes_words_in_any_order(course, capsys):
    pack(course / "c.zip", {f"lee_501_1_{NAME}.ipynb": "x", "stranger_9_9_x.ipynb": "y"})
    assert main(["collect", "c.zip", "--from", "canvas", "--roster", "roster.csv", NAME]) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "s1  new"
    assert "belongs to nobody on the roster" in said
    assert "c.zip: stranger_9_9_x.ipynb" in said
    pack(course / "d.zip", {f"lee_501_1_{NAME}.ipynb": "x"})
    assert main(["collect", NAME, "d.zip", "--from", "canvas", "--roster", "roster.csv"]) == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["c.zip"], "expected ZIP archives and one of"),
        ([NAME], "expected ZIP archives and one of"),
        ([NAME, "c.zip", "--port=1"], "expected ZIP archives and one of"),
        ([NAME, "no.zip"], "no.zip: no such file"),
        ([NAME, "roster.zip"], "roster.zip: not a ZIP archive"),
        ([NAME, "no.zip", "--due", "soon"], "--due: expected a time"),
    ],
)
def test_a_wrong_command_is_one_line(course, capsys, words, reason):
    (course / "roster.zip").write_bytes((course / "roster.csv").read_bytes())
    assert main(["collect", *words, "--from", "moodle", "--roster", "roster.csv"]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1
    assert not Path("submitted").exists()
