"""Tokens that systemd hands over, and the files themselves where it does not."""

from pathlib import Path

import pytest

from runrate_agent.tokens import NO_CREDENTIAL, TokenFileUnreadable, token_in


@pytest.fixture
def credentials(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "credentials"
    folder.mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    return folder


def test_a_token_is_what_systemd_handed_over_under_its_files_name(credentials, tmp_path):
    (credentials / "agent.token").write_text("rr_handed\n")

    assert token_in(tmp_path / "not there/agent.token") == "rr_handed"


def test_without_a_unit_it_is_the_files(tmp_path, monkeypatch):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    (tmp_path / "agent.token").write_text("rr_own\n")

    assert token_in(tmp_path / "agent.token") == "rr_own"


@pytest.mark.parametrize("handed", [NO_CREDENTIAL, ""])
def test_a_file_that_was_written_since_is_read_where_none_was_handed_over(
    credentials, tmp_path, handed
):
    (credentials / "agent.token").write_text(handed)
    (tmp_path / "agent.token").write_text("rr_since\n")

    assert token_in(tmp_path / "agent.token") == "rr_since"


def test_a_missing_token_says_whether_the_file_or_the_units_line_is_missing(credentials, tmp_path):
    (credentials / "agent.token").write_text(NO_CREDENTIAL)

    with pytest.raises(TokenFileUnreadable, match="not there when systemd started this unit"):
        token_in(tmp_path / "agent.token")
    with pytest.raises(TokenFileUnreadable, match=f"no LoadCredential=own.token:{tmp_path}/own"):
        token_in(tmp_path / "own.token")


def test_a_handed_over_token_is_checked_as_a_files_is(credentials, tmp_path):
    (credentials / "agent.token").write_text("two words\n")

    with pytest.raises(TokenFileUnreadable, match="one token on one line"):
        token_in(tmp_path / "agent.token")
