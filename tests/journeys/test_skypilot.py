"""SkyPilot itself asks our policy: its own client from PyPI, against a server that runs.

What is simulated: no cloud is asked and nothing is launched; its API server is its own code in one process; its catalogs of list
prices have four rows of ours in SkyPilot's columns; and that AWS may be used is written into its state, which `sky check` does otherwise.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command

from apps.accounts.models import Team
from apps.placement.actions import make_offer_book
from apps.placement.models import JobAdmission, JobQuote
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from tests import make
from tests.journeys.skypilot import in_skypilot

pytestmark = [pytest.mark.proof, pytest.mark.django_db(transaction=True)]

TASK: dict[str, Any] = {
    "name": "train",
    "resources": {"accelerators": "H100:8", "memory": "512+"},
    "envs": {"RUNRATE_TEAM": "Speech", "RUNRATE_HOURS": "48", "BATCH": "08"},
    "secrets": {"WANDB_API_KEY": "s3cret"},
    "setup": "pip install torch\n",
    "run": "echo \"ä 'quoted'\"\npython train.py\n",
    "workdir": None,
}


@pytest.fixture
def server(live_server: Any) -> str:
    """The policy's address; a pool on demand and machines on the market, in a book."""
    cache.clear()
    make.make_organisation()
    make.make_pool("rented", cluster_id=make.make_cluster())
    make.make_rate("55.04")
    make.make_rate("50.00", region="us-west-2")
    make.make_team("Speech")
    make_offer_book(at=datetime.now(UTC))
    return f"{live_server.url}/api/v1/schedulers/skypilot/policy"


def home_with(folder: Path, secret: str) -> Path:
    """Where the token is, in a file that requests reads by itself."""
    folder.mkdir(exist_ok=True)
    netrc = folder / ".netrc"
    netrc.write_text(f"machine localhost login runrate password {secret}\n")
    netrc.chmod(0o600)
    return folder


def asking(*requests: str, task: Any = TASK) -> list[dict[str, Any]]:
    return [{"request": name, "task": task} for name in requests]


def limit(amount: int, *, is_hard: bool) -> None:
    first = datetime.now(UTC).date().replace(day=1)
    key = str(Team.objects.get(name="Speech").pk)
    budget = EnteredBudget(
        "Speech", "team", key, "money", "monthly", first, None,
        (BudgetStep(first, Decimal(amount)),), is_hard=is_hard,
    )  # fmt: skip
    add_budget(budget=budget, at=datetime.now(UTC))


def test_its_client_asks_with_the_token_of_netrc_and_reads_the_placed_task(
    server: str, tmp_path: Path
) -> None:
    home = home_with(tmp_path / "home", make.make_token("schedule", name="skypilot").secret)

    looked, launched = in_skypilot(
        "ask_policy.py", asking("optimize", "launch"), home, admin_policy=server
    )

    quote = JobQuote.objects.get()
    assert quote.asked_at > datetime.now(UTC) - timedelta(minutes=5)
    task = launched["task"]
    places = [(each.get("infra"), each["memory"]) for each in task["resources"]["ordered"]]
    assert places == [("aws/us-west-2", "512+"), ("aws/us-east-1", "512+"), (None, "512+")]
    assert task["envs"]["RUNRATE_QUOTE"] == str(quote.pk)
    assert task["envs"]["RUNRATE_RUN"] == f"quote-{quote.pk}"
    assert "RUNRATE_QUOTE" not in looked["task"]["envs"]
    for same in ("name", "setup", "run", "secrets"):
        assert task[same] == TASK[same]
    assert task["envs"]["BATCH"] == "08"


def test_what_we_refuse_is_shown_and_nothing_else_lets_a_job_pass(
    server: str, tmp_path: Path
) -> None:
    limit(1000, is_hard=True)
    home = home_with(tmp_path / "home", make.make_token("schedule", name="skypilot").secret)

    (denied,) = in_skypilot("ask_policy.py", asking("launch"), home, admin_policy=server)
    number = JobAdmission.objects.get().pk
    assert denied["error"] == "UserRequestRejectedByPolicy"
    assert (
        "Runrate denies this job. Speech: with what came already the job exceeds" in denied["words"]
    )
    assert f"--env RUNRATE_ADMISSION={number}" in denied["words"]
    assert "password" not in denied["words"]

    home_with(home, "rr_wrong")
    (stranger,) = in_skypilot("ask_policy.py", asking("launch"), home, admin_policy=server)
    away = server.replace("/skypilot/policy", "/nothing")
    (nowhere,) = in_skypilot("ask_policy.py", asking("launch"), home, admin_policy=away)
    assert ("401" in stranger["words"], "404" in nowhere["words"]) == (True, True)
    assert {stranger["error"], nowhere["error"]} == {"UserRequestRejectedByPolicy"}


def test_a_warning_is_the_first_line_that_its_setup_says(server: str, tmp_path: Path) -> None:
    limit(1000, is_hard=False)
    home = home_with(tmp_path / "home", make.make_token("schedule", name="skypilot").secret)

    (warned,) = in_skypilot("ask_policy.py", asking("launch"), home, admin_policy=server)

    first = warned["task"]["setup"].splitlines()[0]
    assert first.startswith("echo 'Runrate: Speech: with what came already the job exceeds it")


HEAD = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch"
LISTED = (
    "p5.48xlarge,H100,8.0,192.0,2048.0,,52.0,30.0,us-east-1,use1-az1,x86_64",
    "p5.48xlarge,H100,8.0,192.0,2048.0,,52.0,31.0,us-east-1,use1-az2,x86_64",
    "p5.48xlarge,H100,8.0,192.0,2048.0,,54.0,30.5,us-west-2,usw2-az1,x86_64",
    "m6i.2xlarge,,,8.0,32.0,,0.384,0.1,us-east-1,use1-az1,x86_64",
)


def test_its_optimizer_goes_by_our_rates_and_by_the_order_that_it_was_given(
    server: str, tmp_path: Path
) -> None:
    """By list prices it goes east; by ours west; and where the policy said an order, by that."""
    make.make_rate("16.00", purchase_option="spot", region="us-west-2")
    make_offer_book(at=datetime.now(UTC))
    home = home_with(tmp_path / "home", make.make_token("schedule", name="skypilot").secret)
    catalogs = home / ".sky/catalogs/v8"
    for name in ("aws", "common"):
        (catalogs / name).mkdir(parents=True)
    accelerators = "AcceleratorName,Clouds\nH100,\"['AWS']\"\n"
    (catalogs / "common/accelerators.csv").write_text(accelerators)
    listed = "\n".join((HEAD, *LISTED, ""))
    ours, own = catalogs / "aws/vms.csv", tmp_path / "listed.csv"
    own.write_text(listed)
    ours.write_text(listed)
    plain = {"resources": {"accelerators": "H100:8", "infra": "aws"}, "run": "x"}
    on_spot = plain | {"resources": plain["resources"] | {"use_spot": True}}
    lines = [{"task": plain}, {"task": on_spot}]

    before = in_skypilot("optimize.py", lines, home)
    call_command("skypilot_catalog", "aws", "--base", str(own), "--out", str(ours))
    (placed,) = in_skypilot("ask_policy.py", asking("launch"), home, admin_policy=server)
    after = in_skypilot("optimize.py", [*lines, {"task": placed["task"]}], home)

    def chosen(answers: list[Any]) -> list[tuple[str, float]]:
        regions = ["/".join(each["infra"].split("/")[:2]) for each in answers]
        return [
            (region, each["dollars_an_hour"]) for region, each in zip(regions, answers, strict=True)
        ]

    assert chosen(before) == [("aws/us-east-1", 52.0), ("aws/us-east-1", 30.0)]
    assert chosen(after) == [
        ("aws/us-west-2", 50.0),
        ("aws/us-west-2", 16.0),
        ("aws/us-west-2", 50.0),
    ]
    assert {each["machine"] for each in (*before, *after)} == {"p5.48xlarge"}
