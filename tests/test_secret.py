"""Claims about the course secret: made once, for its owner only, and never told by its fingerprint."""

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib.errors import CourseError
from course_lib.grading.secret import fingerprint, read_or_make, record_use, used

posix = pytest.mark.skipif(os.name != "posix", reason="permissions of this kind exist on POSIX only")


def test_a_secret_is_made_where_there_is_none_and_read_from_then_on(tmp_path):
    path = tmp_path / "secret"
    made = read_or_make(path)
    assert re.fullmatch("[0-9a-f]{64}", made)
    assert path.read_text(encoding="utf-8") == made + "\n"
    assert read_or_make(path) == made


def test_two_courses_get_different_secrets(tmp_path):
    assert read_or_make(tmp_path / "one") != read_or_make(tmp_path / "two")


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_only_its_owner_may_read_a_new_secret(tmp_path, umask):
    before = os.umask(umask)
    try:
        read_or_make(tmp_path / "secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "secret").stat().st_mode) == 0o600


def test_a_secret_that_an_instructor_wrote_is_taken_as_it_is(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"  open sesame \r\n")
    assert read_or_make(path) == "open sesame"
    assert path.read_bytes() == b"  open sesame \r\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the course secret is empty; restore it from a copy, or delete the file for a new one"),
        (b" \n", "the course secret is empty; restore it from a copy, or delete the file for a new one"),
        (b"\xff\xfe\x00", "cannot read the course secret"),
    ],
)
def test_an_empty_or_undecodable_file_is_told_in_one_line_and_left_alone(tmp_path, content, message):
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(CourseError) as error:
        read_or_make(path)
    assert str(error.value).startswith(f"{path}: {message}")
    assert len(str(error.value).splitlines()) == 1
    assert path.read_bytes() == content


def test_a_folder_in_place_of_the_file_is_told_in_one_line(tmp_path):
    with pytest.raises(CourseError, match="cannot read the course secret") as error:
        read_or_make(tmp_path)
    assert len(str(error.value).splitlines()) == 1


def test_a_missing_folder_is_told_in_one_line(tmp_path):
    path = tmp_path / "missing" / "secret"
    with pytest.raises(CourseError) as error:
        read_or_make(path)
    assert str(error.value) == f"{path}: cannot make the course secret (No such file or directory)"


def test_fingerprints_tell_secrets_apart():
    assert fingerprint("open sesame") == fingerprint("open sesame")
    assert len({fingerprint(secret) for secret in ("open sesame", "Open sesame", "open sesame ")}) == 3


@pytest.mark.parametrize("secret", ["open sesame", "0123456789abcdef" * 4])
def test_a_fingerprint_is_twelve_letters_and_holds_no_part_of_the_secret(secret):
    found = fingerprint(secret)
    assert re.fullmatch("[0-9a-f]{12}", found)
    assert found not in secret
    assert not any(secret[i : i + 6] in found for i in range(len(secret) - 5))


def test_a_lost_secret_is_not_replaced_once_marks_were_made_with_it(tmp_path):
    path = tmp_path / "secret"
    record_use(path, read_or_make(path))
    path.unlink()
    with pytest.raises(CourseError, match="restore it from a copy, or delete .*secret.used") as error:
        read_or_make(path)
    assert len(str(error.value).splitlines()) == 1
    assert not path.exists()
    (tmp_path / "secret.used").unlink()
    assert len(read_or_make(path)) == 64


def test_marking_with_another_secret_is_noticed_once(tmp_path):
    path = tmp_path / "secret"
    assert [record_use(path, secret) for secret in ("one", "one", "other", "other", "one")] == [
        *(False, False),
        *(True, False, False),
    ]
    assert used(path) == [fingerprint("one"), fingerprint("other")]


def test_markers_that_start_together_read_one_secret(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = set(pool.map(read_or_make, [tmp_path / "secret"] * 64))
    assert len(made) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
