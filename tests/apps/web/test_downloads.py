"""The agent and the SDK, as this server serves them."""

import hashlib
import io
import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from apps.web.queries import wheels as module
from apps.web.queries.wheels import install_command, wheels

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = {"runrate-agent": "agent", "runrate-sdk": "sdk"}


def test_the_page_lists_each_wheel_with_the_hash_of_what_is_served() -> None:
    page = Client().get("/downloads/").content.decode()
    links = re.findall(r'href="(/downloads/[\w.-]+\.whl)#sha256=([0-9a-f]{64})"', page)
    assert len(links) == 2
    for address, digest in links:
        answer = Client().get(address)
        assert answer.status_code == 200
        assert hashlib.sha256(answer.content).hexdigest() == digest
        assert answer["ETag"] == f'"{digest}"'


@pytest.mark.django_db
def test_another_name_is_not_found() -> None:
    assert Client().get("/downloads/runrate-9.9.9-py3-none-any.whl").status_code == 404
    assert Client().post("/downloads/").status_code == 405


@pytest.mark.parametrize("project", FOLDERS)
def test_a_wheel_holds_the_whole_source_and_records_it(project: str) -> None:
    wheel = module.wheel_of(project)
    folder = ROOT / "agents" / FOLDERS[project]
    told = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        names = set(archive.namelist())
        info = f"{project.replace('-', '_')}-{told['version']}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        recorded = {line.split(",")[0] for line in archive.read(f"{info}/RECORD").decode().split()}
    source = {
        path.relative_to(folder / "src").as_posix()
        for path in (folder / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"
    }  # fmt: skip
    assert source <= names
    assert recorded == names
    assert f"Requires-Python: {told['requires-python']}\n" in metadata
    assert all(f"Requires-Dist: {each}\n" in metadata for each in told["dependencies"])


def test_the_same_source_is_the_same_bytes() -> None:
    before = {name: wheel.sha256 for name, wheel in wheels().items()}
    wheels.cache_clear()
    assert {name: wheel.sha256 for name, wheel in wheels().items()} == before


@pytest.mark.parametrize(
    "page",
    [
        "docs/guides/agent.md",
        "docs/guides/sdk.md",
        "agents/agent/README.md",
        "agents/sdk/README.md",
    ],
)
def test_what_docs_tell_to_install_is_what_is_served(page: str) -> None:
    named = re.findall(r"/downloads/([\w.-]+\.whl)", (ROOT / page).read_text())
    assert named
    assert set(named) <= set(wheels())


def test_the_command_pins_what_it_installs() -> None:
    command = install_command("https://runrate.example.org", "runrate-agent")
    assert re.fullmatch(
        r"pip install 'https://runrate\.example\.org/downloads/runrate_agent-[\d.]+-py3-none-any"
        r"\.whl#sha256=[0-9a-f]{64}'",
        command,
    )
