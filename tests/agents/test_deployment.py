"""What is installed around the agent: unit, image, DaemonSet, Slurm hooks; each does no harm."""

import re
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from runrate_agent.beside import files_beside, text_beside
from runrate_agent.settings import settings_in
from runrate_agent.tokens import NO_CREDENTIAL
from runrate_agent.unit import AGENT_UNIT, CACHE_UNIT, unit_in

AGENT = Path(__file__).resolve().parents[2] / "agents/agent"


@pytest.mark.parametrize(
    ("name", "command", "user"),
    [
        ("runrate-agent", "run", "DynamicUser=yes"),
        ("runrate-slurm-cache", "slurm-cache", "User=slurm"),
    ],
)
def test_the_systemd_units_are_understood_and_hardened(tmp_path, name, command, user):
    program = tmp_path / "runrate-agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = (AGENT / f"systemd/{name}.service").read_text()
    unit = tmp_path / f"{name}.service"
    unit.write_text(text.replace("/opt/runrate-agent/bin/runrate-agent", str(program)))

    assert re.search(rf"^ExecStart=\S+/runrate-agent {command} --config \S+$", text, re.MULTILINE)
    assert {user, "NoNewPrivileges=yes", "ProtectSystem=strict"} <= set(text.splitlines())
    if shutil.which("systemd-analyze"):
        done = subprocess.run(
            ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
        )
        said = [line for line in done.stderr.splitlines() if name in line]
        assert (done.returncode, said) == (0, [])


def service(name: str) -> dict[str, list[str]]:
    """The settings of a unit's [Service], by name, in their order."""
    told: dict[str, list[str]] = {}
    for key, value in unit_in(name, text_beside(name)).settings:
        told.setdefault(key, []).append(value)
    return told


@pytest.mark.parametrize(
    ("name", "tokens"),
    [
        (AGENT_UNIT, ("agent.token", "join.token", "jobs.token")),
        (CACHE_UNIT, ("agent.token",)),
    ],
)
def test_tokens_that_are_roots_are_handed_over_and_a_missing_one_does_not_end_the_unit(
    name, tokens
):
    told = service(name)

    assert told["LoadCredential"] == [f"{token}:/etc/runrate/{token}" for token in tokens]
    # Without a value to fall back on systemd fails with "Protocol error", and nothing of ours is run.
    assert told["SetCredential"] == [f"{token}:{NO_CREDENTIAL}" for token in tokens]


def test_the_agents_unit_may_read_what_the_daemon_set_may_and_sees_all_of_proc():
    told = service(AGENT_UNIT)
    documents = list(yaml.safe_load_all((AGENT / "kubernetes/daemonset.yaml").read_text()))
    (pod,) = [each["spec"]["template"]["spec"] for each in documents if each["kind"] == "DaemonSet"]
    added = pod["containers"][0]["securityContext"]["capabilities"]["add"]

    for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert set(told[key][0].split()) == {f"CAP_{name}" for name in added}
    # Any of these would hide other users' processes, or all of /proc but processes.
    assert not {"ProtectProc", "ProcSubset", "PrivateUsers", "PrivatePIDs"} & set(told)
    assert not {"PrivateDevices", "DevicePolicy", "PrivateNetwork"} & set(told)
    assert told["RuntimeDirectoryPreserve"] == ["yes"]


def test_a_unit_names_the_program_that_printed_it(tmp_path):
    text = text_beside(AGENT_UNIT, tmp_path / "bin/runrate-agent")

    assert f"ExecStart={tmp_path}/bin/runrate-agent run" in text
    assert set(files_beside()) == {
        *("runrate-agent.service", "runrate-slurm-cache.service", "job_submit.lua"),
        *("prolog.sh", "epilog.sh", "runrate-note.sh"),
    }


def test_the_daemon_set_mounts_what_the_agent_reads_and_asks_for_no_more(tmp_path):
    documents = list(yaml.safe_load_all((AGENT / "kubernetes/daemonset.yaml").read_text()))
    kinds = {each["kind"]: each for each in documents}
    pod = kinds["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    config = tmp_path / "agent.toml"
    config.write_text(kinds["ConfigMap"]["data"]["agent.toml"])
    settings = settings_in(config)

    volumes = {each["name"]: each for each in pod["volumes"]}
    mounts = {each["mountPath"]: each for each in container["volumeMounts"]}
    assert {each["name"] for each in mounts.values()} == set(volumes)
    read = (f"{settings.holders.root}/proc", f"{settings.holders.root}/sys",
            str(Path(settings.holders.pod_resources).parent))  # fmt: skip
    assert all(mounts[path]["readOnly"] for path in read)
    assert settings.spool.folder in mounts
    assert str(Path(settings.server.join_token_file).parent) in mounts
    assert volumes["token"]["secret"]["secretName"] == "runrate-join"
    # Each node's own token is kept beside its spool, on the node: a pod made anew is the same node.
    assert volumes["spool"]["hostPath"]["type"] == "DirectoryOrCreate"
    (name,) = container["env"]
    assert (name["name"], name["valueFrom"]["fieldRef"]["fieldPath"]) == (
        "NODE_NAME", "spec.nodeName"
    )  # fmt: skip

    security = container["securityContext"]
    assert pod["hostPID"] is True
    assert "hostNetwork" not in pod
    assert security.get("privileged", False) is False
    assert (security["readOnlyRootFilesystem"], security["allowPrivilegeEscalation"]) == (
        True, False
    )  # fmt: skip
    assert security["capabilities"]["drop"] == ["ALL"]
    rights = [(rule["resources"], rule["verbs"]) for rule in kinds["ClusterRole"]["rules"]]
    assert all(set(verbs) <= {"get", "list", "watch"} for _, verbs in rights)
    assert all("secrets" not in resources for resources, _ in rights)


def test_the_image_installs_this_package_and_runs_its_program():
    text = (AGENT / "docker/Dockerfile").read_text()
    project = tomllib.loads((AGENT / "pyproject.toml").read_text())["project"]

    assert list(project["dependencies"]) == [
        "nvidia-ml-py>=13.580", "tomli>=2; python_version < '3.11'"
    ]  # fmt: skip
    assert any(each.startswith("grpcio") for each in project["optional-dependencies"]["kubernetes"])
    assert '".[kubernetes]"' in text
    program = re.search(r'^ENTRYPOINT \["/opt/runrate-agent/bin/([\w-]+)"\]$', text, re.MULTILINE)
    assert program is not None
    assert program[1] in project["scripts"]
    assert "NVIDIA_DRIVER_CAPABILITIES=utility" in text


def hook(name: str, **env: str) -> tuple[int, float]:
    """Its status, and how long it took; Slurm gives a hook next to no environment."""
    began = time.monotonic()
    done = subprocess.run(
        ["/bin/sh", str(AGENT / "slurm" / name)],
        env={"PATH": "/usr/bin:/bin", "RUNRATE_SLURM": str(AGENT / "slurm"), **env},
        capture_output=True,
        timeout=20,
        check=False,
    )
    return done.returncode, time.monotonic() - began


def _in_the_way(folder: Path) -> dict[str, str]:
    folder.write_text("a file")
    return {"RUNRATE_NOTES": str(folder)}


def _proc(folder: Path) -> dict[str, str]:
    return {"RUNRATE_NOTES": "/proc/1/there/is/no/writing/here"}


def _not_installed(folder: Path) -> dict[str, str]:
    return {"RUNRATE_SLURM": str(folder / "missing"), "RUNRATE_NOTES": str(folder)}


def _no_tools(folder: Path) -> dict[str, str]:
    return {"PATH": str(folder), "RUNRATE_NOTES": str(folder)}


def _hostile(folder: Path) -> dict[str, str]:
    return {
        "RUNRATE_NOTES": str(folder),
        "SLURM_JOB_NAME": "$(touch hacked); `false`\nSLURM_JOB_USER=root\n" + "x" * 60_000,
    }


def _no_job(folder: Path) -> dict[str, str]:
    return {"SLURM_JOB_ID": "", "RUNRATE_NOTES": str(folder)}


@pytest.mark.parametrize("name", ["prolog.sh", "epilog.sh"])
@pytest.mark.parametrize(
    "trouble", [_in_the_way, _proc, _not_installed, _no_tools, _hostile, _no_job]
)
def test_a_slurm_hook_ends_well_and_soon_whatever_happens(tmp_path, name, trouble):
    status, seconds = hook(name, **{"SLURM_JOB_ID": "7", **trouble(tmp_path / "notes")})

    assert status == 0
    assert seconds < 5


def test_a_name_with_lines_of_its_own_adds_nothing_to_a_note(tmp_path):
    hook("prolog.sh", SLURM_JOB_ID="7", **_hostile(tmp_path))

    lines = (tmp_path / "7-0.start").read_text().splitlines()
    assert "SLURM_JOB_USER=root" not in lines
    assert [line.partition("=")[0] for line in lines] == [
        "RUNRATE_AT", "SLURM_JOB_ID", "SLURM_JOB_NAME"
    ]  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["7-0.start"]


def test_the_daemonset_finds_nodes_with_gpus_on_every_kind_of_cluster() -> None:
    documents = list(yaml.safe_load_all((AGENT / "kubernetes/daemonset.yaml").read_text()))
    pod = next(each for each in documents if each["kind"] == "DaemonSet")["spec"]["template"][
        "spec"
    ]
    needed = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    keys = [
        expression["key"]
        for term in needed["nodeSelectorTerms"]
        for expression in term["matchExpressions"]
    ]
    # Terms are alternatives, expressions within one are not.
    assert all(len(term["matchExpressions"]) == 1 for term in needed["nodeSelectorTerms"])
    assert {"nvidia.com/gpu.present", "cloud.google.com/gke-accelerator"} < set(keys)
    assert "k8s.amazonaws.com/accelerator" in keys
    assert "nodeSelector" not in pod
