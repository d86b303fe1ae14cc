"""A job on the real Slurm: quoted, sent where its quote said, charged, and held against it; refused over a hard budget."""

import json
import shlex
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.models import Team
from apps.economics.ownership import Rule
from apps.fleet import actions as fleet
from apps.ledger.actions.clock import mark_by_clock
from apps.ledger.models import Line
from apps.placement.actions import follow_quotes, make_offer_book, take_quotes_of_jobs
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.queries.budgets import BudgetStep
from apps.workloads.actions.rules import add_rule
from apps.workloads.models import Job
from apps.workloads.providers.job_record import JobRecord
from apps.workloads.providers.sacct import SacctOptions, read_sacct
from apps.workloads.queries import RuleFact
from runrate_agent.cli import main
from runrate_agent.jobs import bulks
from runrate_agent.settings import settings_in
from runrate_agent.slurm_cache import keeper_of
from runrate_agent.uplink import Patience, Uplink, server_at
from runrate_agent.whose.scontrol import Scontrol
from runrate_agent.whose.slurm import SlurmNotes
from tests import make
from tests.apps.console.people import text_of
from tests.apps.ledger import scene
from tests.journeys.slurm import HOOKS, Slurm, SlurmFailed, SlurmParts, slurm_in_temporary_folder
from tests.rest import Caller, signed_in, with_token

pytestmark = pytest.mark.django_db(transaction=True)

PARTITIONS = """PartitionName=rented Nodes=rented-01 Default=YES MaxTime=600 State=UP
NodeName=rented-01 NodeAddr=127.0.0.9 Port=9 CPUs=8 RealMemory=2000 Gres=gpu:h100:4 State=DOWN
PartitionName=kept Nodes={host} MaxTime=600 State=UP"""
SACCT = (
    "JobIDRaw,Cluster,User,Account,Partition,State,Submit,Start,End,AllocTRES,NodeList,AdminComment"
)


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    """Two partitions of a pool each; the default one is not where the quotes' best offer is."""
    parts = SlurmParts(PARTITIONS, HOOKS / "job_submit.lua", has_accounting=True)
    with slurm_in_temporary_folder(parts) as started:
        yield started


@pytest.fixture
def refresher(slurm: Slurm, live_server: Any, tmp_path: Path) -> Callable[[], Path]:
    """The agent's own command beside the controller, with the cluster's token; answers its settings."""
    world(slurm)
    secret = tmp_path / "token"
    secret.write_text(cluster_token())
    config = tmp_path / "agent.toml"
    config.write_text(
        f'[server]\nurl = "{live_server.url}"\ntoken_file = "{secret}"\n'
        f'[holders]\ncluster = "atlas"\n[slurm]\ncache_file = "{slurm.cache}"\n'
    )

    def refresh() -> Path:
        assert main(["slurm-cache", "--once", "--config", str(config)]) == 0
        return config

    return refresh


def world(slurm: Slurm) -> None:
    """A reserved pool with the node of this Slurm, one on demand without nodes, and a team with an account."""
    make.make_organisation()
    atlas = make.make_cluster()
    make.make_pool("rented", cluster_id=atlas)
    kept = make.make_pool("kept", cluster_id=atlas, purchase_option="reserved", gpus_per_node=4)
    hour_ago = datetime.now(tz=UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    make.make_node(slurm.host, pool_id=kept, cluster_id=atlas, units=4, at=hour_ago)
    make.make_rate("55.04")
    make.make_rate("30.00", purchase_option="reserved", kind="contract")
    speech = make.make_team("Speech", parent_id=make.make_team("Research"))
    rule = Rule(100, speech, account="speech")
    add_rule(rule=RuleFact(rule, None, None), at=datetime.now(tz=UTC))
    make_offer_book(at=datetime.now(tz=UTC))


def cluster_token() -> str:
    token = make.make_token("jobs", name="slurmctld")
    fleet.bind_cluster_token(token_id=token.id, cluster_id=make.make_cluster())
    return token.secret


def hard_budget(amount: str) -> None:
    now = datetime.now(tz=UTC)
    first = now.date().replace(day=1)
    steps = (BudgetStep(first, Decimal(amount)),)
    speech = str(Team.objects.get(name="Speech").pk)
    budget = EnteredBudget(
        "Speech, monthly", "team", speech, "money", "monthly", first, None, steps, is_hard=True
    )
    add_budget(budget=budget, at=now)


def quoted(caller: Caller) -> dict[str, Any]:
    body = {"gpus": 2, "work": {"gpu_hours": 0.01}, "team": "Speech", "kind": "uninterrupted"}
    answer = caller.post("quotes", body)
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def send_notes(slurm: Slurm, url: str, job_id: str) -> None:
    """What the agent on the node does: notes of prolog and epilog, the controller asked, sent to the server."""
    ends = 1
    notes = SlurmNotes(slurm.notes, "atlas", slurm.host, Scontrol(slurm.host).job)
    uplink = Uplink(server_at(url), cluster_token(), Patience())
    limit = time.monotonic() + 30
    try:
        while ends and time.monotonic() < limit:
            # Of other tests' jobs there are notes too.
            events = [
                each for each in notes.read(time.time_ns() // 1_000_000) if each.raw_id == job_id
            ]
            for bulk in bulks(events):
                answer = uplink.post("/api/v1/jobs/bulk", json.dumps(bulk).encode)
                assert answer["errors"] == []
            ends -= sum(event.event == "end" for event in events)
            time.sleep(0.3)
    finally:
        uplink.close()
    assert ends == 0


def settled_and_followed(at: datetime) -> None:
    mark_by_clock(at=at)
    scene.settle(at, starts_at=at - timedelta(days=1), ends_at=at)
    follow_quotes(at=at)


def test_a_job_lands_where_its_quote_said_is_charged_and_held_against_it(
    slurm: Slurm,
    live_server: Any,
    refresher: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm.folder / "slurm.conf"))
    caller = with_token("read", "manage", name="writer")
    quote = quoted(caller)
    assert quote["offers"][0]["name"] == "kept"
    refresher()

    job_id, said = slurm.submitted(
        "sleep 2", "-A", "speech", "--gpus=h100:2", "--time=30",
        f"--comment=runrate:quote={quote['id']}",
    )  # fmt: skip

    assert f"Runrate: quote {quote['id']}: partition kept, about 0." in said
    assert slurm.field(job_id, "Partition") == "kept"
    told = slurm.field(job_id, "AdminComment")
    assert told.startswith("runrate:verdict=allow,gpus=2,gpu_hours=1.0000,cost=7.5000,currency=USD")
    assert f",quote={quote['id']}," in told
    slurm.until(lambda: slurm.state(job_id) == "COMPLETED", "the end of the job")
    send_notes(slurm, live_server.url, job_id)
    now = datetime.now(tz=UTC)
    assert take_quotes_of_jobs(at=now) == 1
    assert take_quotes_of_jobs(at=now) == 0
    settled_and_followed(now + timedelta(hours=5))

    job = Job.objects.get(raw_id=job_id)
    assert (job.partition, job.state) == ("kept", "COMPLETED")
    charged = sum(line.effective_micros for line in Line.objects.filter(job_id=job.pk))
    assert job.started_at
    assert job.ended_at
    seconds = (job.ended_at - job.started_at).total_seconds()
    assert charged == pytest.approx(2 * seconds / 3600 * 7.5e6, rel=1e-3)
    outcome = caller.get(f"quotes/{quote['id']}").json()["outcome"]
    assert (outcome["offer"], outcome["job"]) == (quote["offers"][0]["key"], job.pk)
    assert Decimal(outcome["cost"]["amount"]) == Decimal(charged) / 1_000_000
    assert outcome["gpu_hours"] == pytest.approx(2 * seconds / 3600, rel=1e-3)
    client = signed_in("finance@example.org", "finance")[0].client
    page = client.get(f"/placement/quotes/{quote['id']}")
    assert page.status_code == 200
    came_to = f"The job on kept came to ${charged / 1e6:.2f}; $0.08 was predicted"
    assert came_to in text_of(page.content.decode())


def test_accounting_says_by_which_quote_a_job_was_placed(
    slurm: Slurm, refresher: Callable[[], Path]
) -> None:
    quote = quoted(with_token("read", "manage", name="writer"))
    refresher()
    job_id = slurm.submit(
        "true", "-A", "speech", "--gpus=1", "--time=1", f"--comment=runrate:quote={quote['id']}"
    )
    slurm.until(lambda: slurm.state(job_id) == "COMPLETED", "the end of the job")

    def row() -> JobRecord | None:
        text = slurm.run("sacct", "-X", "-P", "-j", job_id, "-o", SACCT)
        jobs = read_sacct(text.splitlines(), options=SacctOptions())
        return next((each for each in jobs if isinstance(each, JobRecord)), None)

    slurm.until(lambda: (found := row()) is not None and found.state == "COMPLETED", "its row")
    found = row()
    assert found is not None
    assert found.labels == {"RUNRATE_QUOTE": str(quote["id"])}


def test_a_job_over_a_hard_budget_is_refused_with_words_and_passes_once_overridden(
    slurm: Slurm, refresher: Callable[[], Path]
) -> None:
    hard_budget("20.00")
    refresher()
    job = ("-A", "speech", "-p", "kept", "--gpus=4", "--time=60")

    with pytest.raises(SlurmFailed) as refused:
        slurm.submit("true", *job)
    within, _ = slurm.submitted("true", "-A", "speech", "-p", "kept", "--gpus=1", "--time=60")
    other, said = slurm.submitted("true", "-p", "kept", "--gpus=4", "--time=60", "-A", "other")

    assert "Runrate: Speech, monthly: this job takes 30.00 USD, 20.00 USD is left" in str(
        refused.value
    )
    assert "The job is refused" in str(refused.value)
    assert "refused a job of root: Speech, monthly" in slurm.controller_log
    assert "cost=7.5000" in slurm.field(within, "AdminComment")
    assert (said, "verdict=allow" in slurm.field(other, "AdminComment")) == ("", True)

    caller = with_token("read", "manage", name="scheduler")
    asked = {"team": "Speech", "gpus": 4, "hours": 1, "pool": "kept"}
    admission = caller.post("admissions", asked).json()
    assert admission["verdict"] == "deny"
    caller.post(f"admissions/{admission['id']}/override", {"reason": "due on Friday"})
    comment = f"--comment=runrate:admission={admission['id']}"
    with pytest.raises(SlurmFailed, match="was not overridden, was used, or is older"):
        slurm.submit("true", *job, comment)
    refresher()
    passed, said = slurm.submitted("true", *job, comment)
    with pytest.raises(SlurmFailed, match=f"another job passed by admission {admission['id']}"):
        slurm.submit("true", *job, comment)
    with pytest.raises(SlurmFailed, match=r"is of 4\.00 GPU-hours"):
        slurm.submit("true", *job, comment, "--time=90")

    assert f"it passes by admission {admission['id']}, overridden by scheduler" in said
    assert f",admission={admission['id']}," in slurm.field(passed, "AdminComment")


def test_without_a_fresh_file_every_job_passes_and_the_log_says_why(
    slurm: Slurm, refresher: Callable[[], Path], tmp_path: Path
) -> None:
    hard_budget("0.01")
    config = refresher()
    job = ("-A", "speech", "-p", "kept", "--gpus=4", "--time=60")
    with pytest.raises(SlurmFailed, match="The job is refused"):
        slurm.submit("true", *job)
    away = tmp_path / "away.toml"
    away.write_text(config.read_text().replace("http://", "http://127.0.0.1:1/", 1))
    before = slurm.cache.read_text()
    keeper = keeper_of(settings_in(config))
    keeper.clock = lambda: time.time() - 7_200
    keeper.refresh()
    keeper.uplink.close()

    def passes(why: str) -> bool:
        _, said = slurm.submitted("true", *job)
        return said == "" and why in slurm.controller_log

    assert passes("jobs pass unchecked: " + str(slurm.cache) + " is 120 minutes old")
    for text, why in (
        (before[:-10], "was cut off"),
        (before.replace("cluster\tatlas\n", ""), "has lost lines"),
        ("{}\n", "is of another form than this script reads"),
        ("x" * 300_000, "is larger than 262144 bytes"),
        ("", "is empty"),
    ):
        slurm.cache.write_text(text)
        assert passes(f"jobs pass unchecked: {slurm.cache} {why}")
    slurm.cache.unlink()
    assert passes("cannot be read")
    slurm.cache.write_text(before)
    with pytest.raises(SlurmFailed, match="The job is refused"):
        slurm.submit("true", *job)


def test_billing_weights_bill_a_job_what_it_costs(
    slurm: Slurm, refresher: Callable[[], Path]
) -> None:
    refresher()
    out = StringIO()
    call_command("slurm_billing_weights", "--cluster", "atlas", "--scontrol", stdout=out)
    (command,) = [line for line in out.getvalue().splitlines() if "PartitionName=kept" in line]
    slurm.run(*shlex.split(command))

    shown = slurm.run("scontrol", "show", "partition", "kept")
    job_id = slurm.submit("true", "-A", "speech", "-p", "kept", "--gpus=2", "--time=1")
    slurm.until(lambda: slurm.state(job_id) == "COMPLETED", "the end of the job")

    def billed() -> str:
        return slurm.run("sacct", "-X", "-n", "-P", "-j", job_id, "-o", "AllocTRES")

    assert "TRESBillingWeights=GRES/gpu=750.0000" in shown
    slurm.until(lambda: "billing=1500," in billed(), "two GPUs at 7.50 an hour, in cents")
