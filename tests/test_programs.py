"""A test that needs a missing program is skipped on a person's machine and fails in CI."""

import sys

import pytest

from programs import find_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these programs are used on Linux only")


def test_missing_program_skips_and_names_the_install_command(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install bubblewrap"):
        find_program("no-such-program", "bubblewrap")


def test_missing_program_fails_in_ci(monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install bubblewrap"):
        find_program("no-such-program", "bubblewrap")


def test_present_program_is_found(monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert find_program("sh", "dash").endswith("/sh")
