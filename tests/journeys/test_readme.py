"""The README's commands, and the first ones of the operator's page, work as they are written, from an empty home."""

import csv
import gzip
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from apps.workloads.providers.sacct_layout import ASKED, find_layout, named_fields
from tests.economics.focus_tables import HOUR_OF_A_NODE
from tests.journeys.installations import ROOT, bare_environment
from tests.journeys.test_processes import free_port

SHOWN_ELSEWHERE = {
    "make demo": ("tests/journeys/test_demo.py", '"demo"'),
    "make test": (".ci/run", "make test"),
}
"""Commands that take minutes, and where they are run as they stand."""
COMMAND = re.compile(
    r"(make|\.venv/bin/python manage\.py|curl|TZ=UTC sacct|export TOKEN=\$\(\.venv/bin/python)\b"
)
JOB = {
    "JobIDRaw": "4711", "Cluster": "atlas", "Partition": "gpu", "Account": "vision", "User": "mia",
    "Submit": "2026-11-02T05:50:00", "Start": "2026-11-02T06:00:00", "End": "2026-11-02T18:00:00",
    "State": "COMPLETED", "NCPUS": "96", "AllocTRES": "cpu=96,gres/gpu=8,node=1", "NodeList": "gpu-01",
    "JobName": "pretrain",
}  # fmt: skip
SACCT = """#!/usr/bin/env python3
# As Slurm's own: a header of the fields that were asked for, in that order, then the jobs.
import sys
asked = sys.argv[sys.argv.index("-o") + 1].split(",")
jobs = {job!r}
print("|".join(asked))
print("|".join(jobs[name] for name in asked))
"""


def commands_of(page: str) -> list[str]:
    """The lines of the page's blocks, without what is said of them; a picture is none."""
    blocks = re.findall(r"^```\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    shown = [block for block in blocks if not re.search(r"[─└┼]", block)]
    return [line.partition("  #")[0].strip() for line in "".join(shown).splitlines() if line]


def first_commands() -> list[str]:
    page = (ROOT / "docs" / "guides" / "operator.md").read_text()
    section = page.partition("\n## First commands\n")[2].partition("\n## ")[0]
    return commands_of((ROOT / "README.md").read_text() + section)


def test_every_line_is_a_command_that_is_there() -> None:
    """Where it is one of manage.py it takes these options; what is not run here is run elsewhere."""
    lines = first_commands()
    assert len(lines) > 9
    for line in lines:
        assert COMMAND.match(line), line
        if "manage.py" not in line:
            continue
        name, *arguments = shlex.split(line.partition("manage.py ")[2].rstrip(")"))
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        parser.parse_args(arguments)
    targets = {line.removeprefix("make ") for line in lines if line.startswith("make ")}
    assert targets <= set(
        re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
    assert {f"make {target}" for target in targets} - {"make run"} == set(SHOWN_ELSEWHERE)
    for where, words in SHOWN_ELSEWHERE.values():
        assert words in (ROOT / where).read_text()


def test_the_first_sacct_asks_for_what_the_next_command_needs() -> None:
    (line,) = (line for line in first_commands() if "sacct -" in line)
    asked = line.split(" -o ")[1].split()[0]
    layout = find_layout(asked.replace(",", "|"), fields=None)
    assert layout.names == named_fields(asked)
    assert line == f"{ASKED} > accounting.psv"


@pytest.fixture
def clone() -> Iterator[Path]:
    """The files of this checkout in a folder that every account may read, with its environment."""
    with tempfile.TemporaryDirectory(prefix="runrate-readme-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        _copy_checkout(Path(folder))
        yield Path(folder)


def _copy_checkout(folder: Path) -> None:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
    there = b"\0".join(name for name in names if name and (ROOT / name.decode()).exists())
    packing = ["tar", "--null", "--files-from=-", "-c"]
    packed = subprocess.run(packing, cwd=ROOT, input=there, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    for name in (".venv", ".uv"):
        if not (folder / name).is_symlink():  # as where several checkouts share one
            (folder / name).symlink_to((ROOT / name).resolve())


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of somebody who has set nothing but a free port, with a Slurm at hand."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sacct").write_text(SACCT.format(job=JOB))
    (tools / "sacct").chmod(0o755)
    (tmp_path / "home").mkdir()
    bare = bare_environment(tmp_path)
    del bare["RUNRATE_HOME"]
    return bare | {
        "HOME": str(tmp_path / "home"),
        "PATH": f"{tools}:{os.environ['PATH']}",
        "RUNRATE_LISTEN": f"127.0.0.1:{free_port()}",
    }


@pytest.fixture
def running(clone: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`make run` in it, until it is ready."""
    process = subprocess.Popen(["make", "run"], cwd=clone, env=environment, start_new_session=True)
    until = time.monotonic() + 600
    try:
        while not is_ready(environment["RUNRATE_LISTEN"]):
            assert process.poll() is None, "make run ended"
            assert time.monotonic() < until, "make run is not ready"
            time.sleep(0.2)
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=90)


def is_ready(listen: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{listen}/readyz", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.mark.proof
def test_each_command_works_from_an_empty_home(
    clone: Path, environment: Mapping[str, str], running: subprocess.Popen[bytes]
) -> None:
    """One after the other in one shell, as somebody types them, beside `make run`."""
    with gzip.open(clone / "bill.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows([HOUR_OF_A_NODE.keys(), HOUR_OF_A_NODE.values()])
    typed = [
        line for line in first_commands() if line not in SHOWN_ELSEWHERE and line != "make run"
    ]
    typed = [line.replace("127.0.0.1:8000", environment["RUNRATE_LISTEN"]) for line in typed]
    typed = [line.replace("curl ", "curl --fail --silent --show-error ") for line in typed]
    script = "\n".join(f"echo '$ '{shlex.quote(line)}; {line}" for line in typed)

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=clone,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ ") == len(typed)
    said = dict(
        re.findall(r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", done.stdout, re.DOTALL | re.MULTILINE)
    )
    by_name = {re.sub(r".*manage.py (\w+).*", r"\1", line): text for line, text in said.items()}
    assert "you@example.com can sign in with the password" in by_name["add_person"]
    assert re.search(r"^imported +1$", by_name["import_sacct"], re.MULTILINE)
    assert json.loads(list(said.values())[-1])["meta"]["window"]["text"] == "7d"
    assert running.poll() is None
