"""The pages' installs as they are written, on a booted Debian: as root, and then as the units' users."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from runrate_agent.unit import AGENT_UNIT
from tests.agents.debian.booted import SERVER, BootedMachine, booted_machine
from tests.agents.test_install_page import EXAMPLE, commands
from tests.databases import wait_until

pytestmark = pytest.mark.proof
OFTEN = "sed -i 's/^window_seconds = 60/window_seconds = 10/; s/^report_seconds = 60/report_seconds = 10/'"
HEALTH = "http://127.0.0.1:9808/healthz"
TOKEN = "/etc/runrate/agent.token"


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Iterator[BootedMachine]:
    machine = booted_machine(tmp_path_factory.mktemp("debian"))
    yield machine
    machine.end()


@pytest.fixture(scope="module")
def installed(machine) -> BootedMachine:
    """By the lines of docs/guides/agent.md, none of which fails."""
    machine.write("/root/invitation", "one-time\n", 0o600)
    for line in commands("agent.md", "## Install"):
        machine.done(line.replace(EXAMPLE, SERVER))
        if "runrate-agent settings" in line:
            # So that a test sees many windows; a node has them of a minute.
            machine.done(f"{OFTEN} /etc/runrate/agent.toml")
    return machine


def sent(machine: BootedMachine, path: str) -> list[dict]:
    lines = machine.run("cat /srv/sent.jsonl").stdout.splitlines()
    told = [json.loads(line) for line in lines if line.endswith("}")]
    return [each["body"] for each in told if each["path"].endswith(path)]


def windows(machine: BootedMachine) -> int:
    return sum(len(each["windows"]["device"]) for each in sent(machine, "/batches"))


def found(machine: BootedMachine, *options: str) -> dict[str, dict]:
    """Findings by subject, with the exit status under ""."""
    ran = machine.run(f"runrate-agent check --json {shlex.join(options)}")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    return {each["subject"]: each for each in told} | {"": {"status": ran.returncode}}


def main_pid(machine: BootedMachine) -> str:
    return machine.done(f"systemctl show -p MainPID --value {AGENT_UNIT}").strip()


def test_the_unit_runs_as_its_own_user_and_sends_what_the_driver_says(installed):
    wait_until(lambda: windows(installed) >= 2)

    assert installed.done(f"systemctl is-active {AGENT_UNIT}").strip() == "active"
    pid = main_pid(installed)
    status = installed.done(f"cat /proc/{pid}/status")
    (uids,) = [line.split()[1:] for line in status.splitlines() if line.startswith("Uid:")]
    assert len(set(uids)) == 1
    assert int(uids[0]) >= 61184
    # CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE, and no other.
    assert f"CapEff:\t{(1 << 2) | (1 << 19):016x}" in status
    assert installed.done(f"stat -c '%a %U' {TOKEN}").strip() == "600 root"


def test_check_looks_as_the_units_user_and_says_so(installed):
    told = found(installed)

    assert told[""]["status"] == 0, told
    viewers = {subject: each["viewer"] for subject, each in told.items() if subject}
    assert viewers.pop("unit") == "root"
    assert set(viewers.values()) == {f"runrate-agent, {AGENT_UNIT}"}
    assert (told["server"]["grade"], told["nvml"]["grade"], told["spool"]["grade"]) == (
        "ok", "ok", "ok"
    )  # fmt: skip
    assert told["processes"]["said"] == "cgroups and environments of others can be read"
    assert "[as runrate-agent, runrate-agent.service]" in installed.done("runrate-agent check")


def test_a_process_of_another_user_is_known_by_its_environment(installed):
    installed.done("useradd --no-create-home trainer || true")
    installed.done(
        "systemd-run --unit=training --uid=trainer --setenv=RUNRATE_RUN=llm-7 sleep infinity"
    )
    pid = installed.done("systemctl show -p MainPID --value training").strip()
    installed.done(f"echo gpu.0.procs={pid}:1000000 >> /srv/nvml.state")

    wait_until(
        lambda: any(
            holder.endswith("/llm-7")
            for batch in sent(installed, "/batches")
            for holder in batch["holders"]
        )
    )
    told = [
        problem
        for each in sent(installed, "/reports")
        for problem in each.get("status", {}).get("problems", ())
    ]
    assert told == []


def test_without_the_second_capability_it_says_what_it_does_not_know(installed):
    only = "CapabilityBoundingSet=\nCapabilityBoundingSet=CAP_SYS_PTRACE\n"
    only += "AmbientCapabilities=\nAmbientCapabilities=CAP_SYS_PTRACE"
    installed.done(
        "systemctl start training || systemd-run --unit=training --uid=nobody sleep 9999"
    )
    pid = installed.done("systemctl show -p MainPID --value training").strip()
    installed.done(f"echo gpu.0.procs={pid}:1000000 >> /srv/nvml.state")
    before = len(sent(installed, "/reports"))
    with dropped_in(installed, only):
        told = found(installed)
        problems = wait_until(
            lambda: [
                problem
                for each in sent(installed, "/reports")[before:]
                for problem in each.get("status", {}).get("problems", ())
                if problem["code"] == "environments"
            ]
        )
        health = installed.run(f"python3 -c 'import urllib.request as u; u.urlopen(\"{HEALTH}\")'")

    assert told["processes"]["grade"] == "wrong"
    assert told[""]["status"] == 1
    assert "the environments of 1 processes" in problems[0]["detail"]
    assert "503" in health.stderr


def test_it_survives_a_restart_of_the_unit_and_of_its_process(installed):
    boots = {each["boot"] for each in sent(installed, "/batches")}
    installed.done(f"systemctl restart {AGENT_UNIT}")
    wait_until(lambda: len({each["boot"] for each in sent(installed, "/batches")} - boots) == 1)
    installed.done(f"systemctl kill --signal=KILL {AGENT_UNIT}")
    wait_until(lambda: len({each["boot"] for each in sent(installed, "/batches")} - boots) == 2)

    keys = [(each["boot"], each["sequence"]) for each in sent(installed, "/batches")]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("break_it", "mend_it", "said"),
    [
        (f"mv {TOKEN} /root/kept", f"mv /root/kept {TOKEN}",
         "it was not there when systemd started this unit"),
        ("chmod 744 /opt/runrate-agent/bin/runrate-agent",
         "chmod 755 /opt/runrate-agent/bin/runrate-agent", "its program cannot be started"),
        ("echo oops > /etc/runrate/agent.toml.new; mv /etc/runrate/agent.toml /root/kept; "
         "mv /etc/runrate/agent.toml.new /etc/runrate/agent.toml",
         "mv /root/kept /etc/runrate/agent.toml", "is not TOML"),
        ("touch /var/lib/runrate-agent/spool.sqlite3-shm; systemctl stop runrate-agent; "
         "rm -f /var/lib/runrate-agent/spool.*; install -m 600 /dev/null "
         "/var/lib/runrate-agent/spool.sqlite3", "rm /var/lib/runrate-agent/spool.sqlite3",
         "spool.sqlite3 cannot be written to: Permission denied"),
        ("install -d -m 700 /run/runrate/slurm; chown root /run/runrate/slurm",
         "rm -r /run/runrate/slurm", "/run/runrate/slurm cannot be written to"),
        ("install -m 600 /dev/null /dev/nvidiactl", "rm /dev/nvidiactl",
         "/dev/nvidiactl: Permission denied"),
    ],
)  # fmt: skip
def test_check_by_root_says_what_its_unit_may_not(installed, break_it, mend_it, said):
    installed.done(break_it)
    try:
        ran = installed.run("runrate-agent check")
    finally:
        installed.done(mend_it)

    assert (ran.returncode, said in ran.stdout) == (1, True), ran.stdout
    installed.done(f"systemctl restart {AGENT_UNIT}")
    assert found(installed)[""]["status"] == 0


def test_a_missing_token_is_refused_in_clear_words_and_asked_for_again(installed):
    installed.done(f"mv {TOKEN} /root/kept; systemctl restart {AGENT_UNIT}")
    wait_until(lambda: "write it, then restart" in installed.journal(AGENT_UNIT))
    assert f"cannot read the token file {TOKEN}" in installed.journal(AGENT_UNIT)
    installed.done(f"mv /root/kept {TOKEN}; systemctl restart {AGENT_UNIT}")

    before = windows(installed)
    wait_until(lambda: windows(installed) > before)


def test_a_token_of_another_place_is_handed_over_by_a_line_of_its_own(installed):
    other = "/etc/elsewhere/other.token"
    installed.done(f"install -D -m 600 {TOKEN} {other}")
    setting = "sed -i 's|^token_file = .*|token_file = \"{}\"|' /etc/runrate/agent.toml"
    installed.done(setting.format(other))
    try:
        with dropped_in(installed, f"LoadCredential=other.token:{other}"):
            before = windows(installed)
            wait_until(lambda: windows(installed) > before)
            assert found(installed)["server"]["grade"] == "ok"
    finally:
        installed.done(setting.format(TOKEN))


def test_the_prologs_notes_are_read_and_taken_away(installed):
    for line in commands("agent.md", "## Beside Slurm"):
        installed.done(line)
    installed.done("sed -i 's/^cluster = .*/cluster = \"atlas\"/' /etc/runrate/agent.toml")
    installed.done(f"systemctl restart {AGENT_UNIT}")
    job = "SLURM_JOB_ID=42 SLURM_JOB_GPUS=0 SLURM_JOB_USER=trainer"
    for hook in ("prolog.sh", "epilog.sh"):
        installed.done(f"env {job} /opt/runrate-agent/slurm/{hook}")

    wait_until(lambda: not installed.done("ls /run/runrate/slurm").split())
    assert found(installed)["Slurm"]["grade"] == "ok"


def test_the_slurm_cache_is_kept_by_slurms_user_with_a_token_that_is_roots(installed):
    installed.done("useradd --system slurm; mkdir -p /etc/slurm")
    server, *lines = commands("slurm.md", "## Install")
    assert server.startswith("manage.py ")
    installed.done(f"cp {TOKEN} /root/token")
    for line in lines:
        installed.done(line)

    wait_until(lambda: installed.run("cat /var/cache/runrate-slurm/placement").returncode == 0)
    assert installed.done("head -1 /var/cache/runrate-slurm/placement").split() == [
        "runrate-slurm-cache", "1"
    ]  # fmt: skip
    assert installed.done("stat -c %U /var/cache/runrate-slurm/placement").strip() == "slurm"
    assert installed.done(f"stat -c '%a %U' {TOKEN}").strip() == "600 root"
    assert "slurm_job_submit" in installed.done("cat /etc/slurm/job_submit.lua")
    said = installed.done("runrate-agent check")
    assert "[as slurm, runrate-slurm-cache.service]" in said


@contextmanager
def dropped_in(machine: BootedMachine, text: str) -> Iterator[None]:
    """The agent's unit with settings of a person's own, restarted; taken back afterwards."""
    folder = f"/etc/systemd/system/{AGENT_UNIT}.d"
    restart = f"systemctl daemon-reload; systemctl restart {AGENT_UNIT}"
    machine.write(f"{folder}/override.conf", f"[Service]\n{text}\n")
    machine.done(restart)
    try:
        yield
    finally:
        machine.done(f"rm -r {folder}; {restart}")
