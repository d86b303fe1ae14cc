"""`check --proof` on the made-up driver: every call of the code with its answer, and no name of anybody."""

import getpass
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from runrate_agent import proof
from runrate_agent.nvml.survey import calls_in_code
from runrate_agent.proof import ProofAsked, prove
from runrate_agent.pseudonyms import FilePseudonyms

SOURCES = Path(proof.__file__).parent / "nvml"
TORCH = """
import os, time
__version__ = "9.9+made.up"
class cuda:
    is_available = staticmethod(lambda: {here})
    synchronize = staticmethod(lambda: time.sleep(0.01))
class Matrix:
    def __matmul__(self, other): return self
def randn(*size, device): return Matrix()
"""


@pytest.fixture
def config(tmp_path, far_server) -> Path:
    (tmp_path / "agent.token").write_text("rr_very-secret\n")
    path = tmp_path / "agent.toml"
    path.write_text(
        f'[server]\nurl = "{far_server.url}"\ntoken_file = "{tmp_path}/agent.token"\n'
        f'[spool]\nfolder = "{tmp_path}/spool"\n[holders]\ncluster = "atlas-secret"\n'
        f'slurm_folder = "{tmp_path}/slurm"\npod_resources = "{tmp_path}/none"\n'
    )
    return path


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without the warm-up that a figure of cost deserves."""
    monkeypatch.setattr("runrate_agent.measuring.WARM_SECONDS", 4.0)


def proved(config: Path, tmp_path: Path, **more: object) -> tuple[dict, str, list[str]]:
    said: list[str] = []
    asked = {"seconds": 14.0, "survey_seconds": 6.0, "say": said.append, **more}
    prove(ProofAsked(config=config, file=tmp_path / "proof.json", **asked))
    text = (tmp_path / "proof.json").read_text()
    return json.loads(text), text, said


def test_the_list_of_calls_is_the_codes_own():
    spelt = set()
    for path in SOURCES.glob("*.py"):
        if path.name != "survey.py":
            spelt |= set(re.findall(r"pynvml\.(nvml[A-Z]\w+?)(?=[,)\s(])", path.read_text()))

    listed = set(calls_in_code())

    assert {"nvmlInit", "nvmlDeviceGetFieldValues", "nvmlGpmMetricsGet"} <= listed
    # What else is spelt so is a constant or a type.
    assert {name for name in spelt - listed if "Get" in name} == set()
    assert len(listed) >= 35


@pytest.mark.proof
def test_one_file_has_each_call_with_its_answer_windows_under_load_and_the_agents_cost(
    driver, config, tmp_path, monkeypatch
):
    uuid = "GPU-8f6a1c9e-2d3c-4a00-8f00-00000000aa04"
    driver.write(count=2)
    driver.gpu(0, uuid=uuid, name="NVIDIA H100 80GB HBM3", samples=40, energy_watts=300)
    driver.gpu(1, uuid="GPU-other", name="NVIDIA H100 80GB HBM3", samples=10)
    (tmp_path / "torch.py").write_text(TORCH.format(here=True))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    told, text, said = proved(config, tmp_path)

    assert set(told["calls"]) == set(calls_in_code())
    name = told["calls"]["nvmlDeviceGetName"]
    assert name["answers"][0]["answer"] == "NVIDIA H100 80GB HBM3"
    assert name["codes"] == {"NVML_SUCCESS": name["count"]}
    # A fallback that this driver's newer call makes needless is asked all the same.
    assert told["calls"]["nvmlDeviceGetComputeRunningProcesses_v2"]["count"] >= 1
    assert "NVML_ERROR_NOT_SUPPORTED" in told["calls"]["nvmlDeviceGetTemperature"]["codes"]
    assert [each["name"] for each in told["devices"]] == ["NVIDIA H100 80GB HBM3"] * 2
    assert told["versions"]["driver"] == "580.95.05"
    assert told["topology"]["pairs"][0]["gpus"] == [0, 1]
    assert (told["load"]["torch"], told["load"]["problem"]) == ("9.9+made.up", "")
    windows = sum(len(batch["windows"]["device"]) for batch in told["windows"])
    assert windows >= 2
    assert told["cost"]["seen_gpus"] == 2
    assert told["cost"]["cpu_percent_of_core"] > 0
    assert told["cost"]["pss_mib"] > 0
    assert told["reports"]
    assert any(each["subject"] == "nvml" for each in told["findings"])
    for secret in ("rr_very-secret", "atlas-secret", uuid, "GPU-other", socket.gethostname()):
        assert not re.search(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", text), secret
    assert [line[:6] for line in said if line[1:5] == " of "] == [
        "1 of 4", "2 of 4", "3 of 4", "4 of 4"
    ]  # fmt: skip


def test_a_call_that_hangs_and_a_missing_torch_are_told(driver, config, tmp_path, monkeypatch):
    driver.gpu(0, samples=40, hang_ms=60_000)
    monkeypatch.setattr(proof, "CALL_SECONDS", 1.0)

    told, _, _ = proved(config, tmp_path, survey_seconds=2.0)

    assert told["hung_in"].startswith("nvmlDevice")
    assert "windows" not in told


def test_without_a_driver_the_file_says_so_and_the_command_ends_with_1(driver, tmp_path):
    driver.write(init__rc=18)
    file = tmp_path / "proof.json"

    done = subprocess.run(
        [sys.executable, "-m", "runrate_agent", "check", "--proof", str(file),
         "--config", str(tmp_path / "no agent.toml")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    told = json.loads(file.read_text())
    assert done.returncode == 1
    assert told["gone"] == "NVML_ERROR_LIB_RM_VERSION_MISMATCH"
    assert told["findings"][0]["subject"] == "settings"
    assert "left out, for no GPU answered" in done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TORCH.format(here=False), "torch sees no CUDA device"),
        ("raise ImportError('broken torch')", "ImportError: broken torch"),
    ],
)
def test_a_torch_that_has_no_gpu_is_no_load_and_says_why(tmp_path, monkeypatch, text, problem):
    (tmp_path / "torch.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said: list[str] = []

    asked = ProofAsked(tmp_path / "none", tmp_path / "f", python=sys.executable, say=said.append)
    with proof._loaded(asked) as load:
        assert (load.torch, load.problem) == ("", problem)
    assert said == [f"  without load: {problem}"]


def test_names_are_replaced_by_the_same_one_throughout_and_tokens_by_nothing_of_theirs():
    names = FilePseudonyms()
    names.hide("host", ["gpu-01.example.org", "gpu-01"])
    uuid = "MIG-8f6a1c9e-2d3c-4a00-8f00-00000000aa04"

    told = names.cleaned(
        {
            "gpu-01": f"gpu-01.example.org and gpu-01, not gpu-011; {uuid}, {uuid}",
            "list": ["10.0.0.7 and 127.0.0.1", "rr_Zm9vYmFy", "/home/ada/x of 10.0.0.7"],
        }
    )

    (host, short), (key,) = sorted(names.names.values()), list(told)[:1]
    assert {host, short} == {"host-1", "host-2"}
    assert told[key] == "host-1 and host-2, not gpu-011; MIG-1, MIG-1"
    assert told["list"] == ["address-1 and 127.0.0.1", "token", "/home/user-1/x of address-1"]


def test_whoever_runs_it_is_not_named(config, tmp_path, monkeypatch):
    monkeypatch.setattr(proof, "current_user", lambda: "ada.smith")
    assert getpass.getuser() != "ada.smith"

    names = proof._pseudonyms(None, [], {})

    assert names.cleaned("as ada.smith") == "as user-1"
