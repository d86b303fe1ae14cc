"""As whom check looks: a unit's files, the unit of the moment made of them, and what it prints."""

import json
from pathlib import Path

import pytest

from runrate_agent import looking, unit
from runrate_agent.looking import findings_in, looked_around
from runrate_agent.unit import AGENT_UNIT, Done, run_as_unit, unit_in

FILES = """# /etc/systemd/system/runrate-agent.service
[Unit]
User=not this
[Service]
ExecStart=/opt/a/bin/runrate-agent run --config /etc/other.toml
Restart=always
DynamicUser=yes
LoadCredential=agent.token:/etc/runrate/agent.token
AmbientCapabilities=CAP_SYS_PTRACE \\
  CAP_DAC_READ_SEARCH
CPUQuota=10%
RuntimeDirectory=runrate
ExecPaths=/opt
# /etc/systemd/system/runrate-agent.service.d/override.conf
[Service]
AmbientCapabilities=
AmbientCapabilities=CAP_SYS_PTRACE
[Install]
WantedBy=multi-user.target
"""
OURS = Path("/etc/runrate/agent.toml")


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def systemd(tmp_path, monkeypatch) -> Path:
    """A folder of stand-ins for systemd's own programs, and root who calls them."""
    (tmp_path / "unit").write_text(FILES)
    program(
        tmp_path,
        "systemctl",
        f"""
case "$1 $3" in "cat {AGENT_UNIT}") cat {tmp_path}/unit;; is-active*) echo active;; *) exit 1;; esac""",
    )
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(unit, "BOOTED", tmp_path)
    monkeypatch.setattr(looking, "BOOTED", tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return tmp_path


def test_a_unit_of_the_moment_gets_what_the_unit_is_given_and_denied():
    properties = unit_in(AGENT_UNIT, FILES).properties

    assert properties == [
        "DynamicUser=yes",
        "LoadCredential=agent.token:/etc/runrate/agent.token",
        "RuntimeDirectory=runrate",
        "ExecPaths=/opt",
        "AmbientCapabilities=",
        "AmbientCapabilities=CAP_SYS_PTRACE",
        "RuntimeDirectoryPreserve=yes",
        # A dynamic user is known by its name: another would take the state folder.
        "User=runrate-agent",
    ]


def test_check_by_root_prints_what_the_units_own_program_found_and_as_whom(systemd):
    told = json.dumps({"grade": "ok", "subject": "token", "said": "fine", "viewer": "61184"})
    program(systemd, "systemd-run", f"echo \"$@\" > {systemd}/asked; echo '{told}'")

    found = list(looked_around(OURS))

    assert [(each.subject, each.viewer) for each in found] == [
        ("unit", "root"), ("token", f"runrate-agent, {AGENT_UNIT}"), ("unit", "root")
    ]  # fmt: skip
    assert "reads /etc/other.toml" in found[0].said
    assert found[-1].said == f"{AGENT_UNIT} is active"
    asked = (systemd / "asked").read_text().split(" -- ")[1].strip()
    assert asked == (
        f"/opt/a/bin/runrate-agent check --json --here {AGENT_UNIT} --config /etc/other.toml"
    )


def test_a_setting_that_systemd_run_does_not_know_is_left_out(systemd):
    program(
        systemd,
        "systemd-run",
        """
case "$*" in *ExecPaths*) echo "Unknown assignment: ExecPaths=/opt" >&2; exit 1;; esac
echo done""",
    )

    assert run_as_unit(unit_in(AGENT_UNIT, FILES), ["true"]).output == "done\n"


@pytest.mark.parametrize(
    ("status", "errors", "said"),
    [
        (243, "", "it does not start: a credential of its LoadCredential= cannot be read"),
        (216, "", "it does not start: a group of its SupplementaryGroups= does not exist"),
        (1, "runrate-agent: cannot read /etc/x: Permission denied\n",
         "it does not start: cannot read /etc/x: Permission denied"),
        (9, "", "it does not start: it ended with 9"),
    ],
)  # fmt: skip
def test_a_unit_that_does_not_come_so_far_is_wrong_and_says_why(status, errors, said):
    done = Done(status, "", errors, unit.FAILED_STEPS.get(status, ""))

    (finding,) = findings_in(done, "runrate-agent")

    assert (finding.grade, finding.said) == ("wrong", said)


def test_where_no_unit_is_installed_root_is_told_that_only_root_looked(systemd, tmp_path):
    (systemd / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    config = tmp_path / "agent.toml"
    config.write_text(
        f'[server]\nurl = "http://127.0.0.1:9"\ntoken_file = "{tmp_path}/none"\n'
        f'[spool]\nfolder = "{tmp_path}/spool"\n[source]\nkind = "dcgm"\n'
        'dcgm_url = "http://127.0.0.1:9/metrics"\n'
    )

    found = list(looked_around(config))

    assert "not installed: root looks" in found[0].said
    assert {each.viewer for each in found} == {"root"}
