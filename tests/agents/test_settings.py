"""Settings: every key is known, documented and does something; a bad one is named by file and line."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from runrate_agent.settings import Settings, SettingsRefused, file_to_begin_with, settings_in

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "agents/agent/src/runrate_agent"
GOOD = '[server]\nurl = "https://runrate.example.org"\n'


def keys() -> list[str]:
    return [
        f"{table.name}.{key.name}"
        for table in fields(Settings)
        for key in fields(getattr(Settings(), table.name))
    ]


def test_the_agent_reads_every_key_there_is():
    code = "".join(path.read_text() for path in SOURCES.rglob("*.py") if path.name != "settings.py")

    assert [key for key in keys() if f".{key.partition('.')[2]}" not in code] == []


def test_the_file_to_begin_with_is_read_as_the_defaults(tmp_path):
    path = tmp_path / "agent.toml"
    path.write_text(file_to_begin_with().replace('url = ""', 'url = "https://r.example"', 1))

    found = settings_in(path)

    assert (found.source, found.spool, found.holders, found.health, found.serving) == (
        Settings().source, Settings().spool, Settings().holders, Settings().health,
        Settings().serving,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (GOOD + "[source]\nwindow_seconds = 45\n", 4, "source.window_seconds is 45"),
        (GOOD + "[source]\n\nkind = 'rocm'\n", 5, "source.kind is 'rocm'"),
        (GOOD + "[spool]\nmost_days = 'two'\n", 4, "spool.most_days is 'two'; expected int"),
        (GOOD + "[spool]\nmost_megabytes = 0\n", 4, "spool.most_megabytes is 0"),
        (GOOD + "[health]\ncloud = 'azur'\n", 4, "health.cloud is 'azur'"),
        (GOOD + "# a typo\ntoken_fiel = 'x'\n", 4, "there is no server.token_fiel"),
        (GOOD + "[sever]\n", 3, "there is no table [sever]"),
        ("server = 3\n", 1, "[server] is a table"),
        ('[server]\nurl = ""\n', 2, "server.url is needed"),
    ],
)
def test_a_setting_that_is_not_understood_is_named_with_its_file_and_line(
    tmp_path, text, line, said
):
    path = tmp_path / "agent.toml"
    path.write_text(text)

    with pytest.raises(SettingsRefused) as refused:
        settings_in(path)

    assert str(refused.value).startswith(f"{path}, line {line}: {said}")


@pytest.mark.parametrize("text", ["[server\n", "url = \n", "\xff"])
def test_a_file_that_is_no_toml_is_named(tmp_path, text):
    path = tmp_path / "agent.toml"
    path.write_bytes(text.encode("latin-1"))

    with pytest.raises(SettingsRefused, match=re.escape(str(path))):
        settings_in(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsRefused, match=r"cannot read .*agent\.toml"):
        settings_in(tmp_path / "agent.toml")
