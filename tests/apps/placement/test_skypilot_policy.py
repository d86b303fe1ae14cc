"""SkyPilot asks whether a task may be launched: denied in words, warned of, placed in order, and marked."""

import json
from base64 import b64encode
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Team
from apps.economics.spot.trace import trace_of_document
from apps.placement.actions import (
    follow_quotes,
    keep_spot_series,
    make_offer_book,
    quotes,
    skypilot,
)
from apps.placement.actions.spot import SpotPlace
from apps.placement.models import JobAdmission, JobQuote
from apps.placement.queries.quote_answer import AnsweredQuote, answer_quote
from apps.planning.actions import EnteredBudget, add_budget
from apps.planning.models import Budget
from apps.planning.queries.budgets import BudgetStep
from apps.unit_economics.models import RunFigures
from tests import make
from tests.apps.unit_economics import planted_runs
from tests.rest import Caller, signed_in

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
AT = make.NOON + 2 * HOUR
TASK: dict[str, Any] = {
    "name": "train",
    "resources": {"accelerators": {"H100": 8}},
    "num_nodes": 1,
    "run": "python train.py",
    "envs": {"RUNRATE_TEAM": "Speech", "RUNRATE_HOURS": "48", "EMPTY": None},
    "secrets": {"WANDB_API_KEY": "s3cret-of-ada"},
}
CONFIG = "active_workspace: default\nlabels:\n  a: b\n"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(timezone, "now", lambda: AT)


@pytest.fixture
def secret() -> str:
    """A scheduler's token; a pool on demand, and spot and on demand on the market elsewhere, in a book."""
    make.make_organisation()
    cluster_id = make.make_cluster()
    make.make_pool("rented", cluster_id=cluster_id)
    make.make_rate("55.04")
    make.make_rate("50.00", region="us-west-2")
    make.make_rate("16.00", purchase_option="spot", region="us-west-2")
    make.make_team("Speech")
    make.make_team("Vision")
    make_offer_book(at=AT)
    return make.make_token("schedule", name="skypilot").secret


def limit(amount: str, *, is_hard: bool) -> None:
    first = AT.date().replace(day=1)
    key = str(Team.objects.get(name="Speech").pk)
    steps = (BudgetStep(first, Decimal(amount)),)
    budget = EnteredBudget(
        "Speech, monthly", "team", key, "money", "monthly", first, None, steps, is_hard=is_hard
    )
    add_budget(budget=budget, at=AT)


def body_of(task: Any, **instead: Any) -> str:
    """As SkyPilot's client sends it: a JSON string that holds JSON."""
    said = {
        "task": task if isinstance(task, str) else yaml.safe_dump(task),
        "skypilot_config": CONFIG,
        "request_name": "launch",
        "request_options": None,
        "at_client_side": False,
        "user": "id: u1\nname: ada\n",
        "client_api_version": None,
        "client_version": None,
    }
    return json.dumps(json.dumps(said | instead))


def asked(secret: str, task: Any, authorization: str | None = None, **instead: Any) -> Any:
    basic = b64encode(f"runrate:{secret}".encode()).decode()
    return Client().post(
        "/api/v1/schedulers/skypilot/policy",
        body_of(task, **instead),
        content_type="application/json",
        headers={"Authorization": authorization or f"Basic {basic}"},
    )


def passed(secret: str, task: Any, **instead: Any) -> dict[str, Any]:
    answer = asked(secret, task, **instead)
    assert answer.status_code == 200, answer.content
    told = json.loads(answer.json())
    assert told["skypilot_config"] == CONFIG
    found: dict[str, Any] = yaml.safe_load(told["task"])
    return found


def task_with(resources: dict[str, Any] | None = None, **envs: str | None) -> dict[str, Any]:
    said = {**TASK["envs"], **envs}
    return TASK | {
        "resources": TASK["resources"] | (resources or {}),
        "envs": {name: value for name, value in said.items() if value is not None},
    }


def places(task: dict[str, Any]) -> list[tuple[str, bool]]:
    return [
        (each.get("infra", ""), each.get("use_spot"))
        for each in task["resources"].get("ordered", ())
    ]


def seen_on_spot(share: float = 0.98) -> None:
    """Ten days of looks at that machine in that region."""
    looks = [0 if index % round(1 / (1 - share)) == 0 else 1 for index in range(24 * 10)]
    document = {"metadata": {"gap_seconds": 3600}, "data": looks}
    trace = trace_of_document("west", document)
    place = SpotPlace("aws", "us-west-2", "", "H100", "p5.48xlarge")
    keep_spot_series(name="west", trace=trace, place=place, source="a trace", at=AT)
    make_offer_book(at=AT)


def test_a_task_is_placed_in_order_and_marked_with_its_quote(secret: str) -> None:
    task = passed(secret, TASK)

    assert places(task) == [("aws/us-west-2", False), ("aws/us-east-1", False), ("", None)]
    quote = JobQuote.objects.get()
    admission = JobAdmission.objects.get()
    envs = task["envs"]
    assert (envs["RUNRATE_QUOTE"], envs["RUNRATE_ADMISSION"]) == (str(quote.pk), str(admission.pk))
    assert (envs["RUNRATE_RUN"], envs["RUNRATE_TEAM"]) == (f"quote-{quote.pk}", "Speech")
    assert (quote.job["gpus"], quote.job["work"]["gpu_hours"]) == (8, 384.0)
    assert admission.asked_name == "skypilot for ada"
    assert admission.answer["cost_micros"] == 2_400_000_000
    for each in task["resources"]["ordered"]:
        assert each["labels"] == {
            "runrate-team": "speech",
            "runrate-quote": str(quote.pk),
            "runrate-admission": str(admission.pk),
        }
        assert each["accelerators"] == {"H100": 8}
    assert {name: task[name] for name in ("name", "num_nodes", "secrets")} == {
        name: TASK[name] for name in ("name", "num_nodes", "secrets")
    }
    assert task["run"].endswith(TASK["run"])


def test_spot_is_chosen_for_jobs_that_skypilot_begins_again_alone(secret: str) -> None:
    seen_on_spot()
    task = task_with(RUNRATE_CHECKPOINT_SECONDS="60", RUNRATE_RESTART_SECONDS="360")

    managed = passed(secret, task, request_name="jobs.launch")
    assert places(managed)[0] == ("aws/us-west-2", True)
    assert True not in {is_spot for _, is_spot in places(passed(secret, task))}
    asking = passed(secret, task_with({"use_spot": True}, RUNRATE_CHECKPOINT_SECONDS="60"))
    assert places(asking)[0] == ("aws/us-west-2", True)


def test_what_a_task_says_itself_stays(secret: str) -> None:
    there = passed(secret, task_with({"infra": "aws/us-east-1/us-east-1a"}))
    assert there["resources"]["infra"] == "aws/us-east-1/us-east-1a"
    assert "ordered" not in there["resources"]
    assert there["resources"]["labels"]["runrate-team"] == "speech"

    ordered = {"ordered": [{"infra": "gcp"}, {"infra": "aws"}]}
    own = passed(secret, task_with(ordered))
    assert [each["infra"] for each in own["resources"]["ordered"]] == ["gcp", "aws"]

    either = {"any_of": [{"infra": "gcp"}, {"infra": "aws"}], "labels": {"mine": "x"}}
    some = passed(secret, task_with(either))
    assert [infra for infra, _ in places(some)] == ["aws/us-west-2", "aws/us-east-1", "gcp", "aws"]
    assert {each["labels"]["mine"] for each in some["resources"]["ordered"]} == {"x"}


def test_part_of_a_machine_is_not_placed_on_a_whole_one(secret: str) -> None:
    task = passed(secret, task_with({"accelerators": {"H100": 1}}))

    assert "ordered" not in task["resources"]
    assert "no offer is on a machine and in a place" in task["envs"]["RUNRATE_WARNING"]


def test_a_hard_budget_denies_in_words_that_say_what_to_do(secret: str) -> None:
    limit("1000", is_hard=True)

    answer = asked(secret, TASK)

    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("text/plain")
    number = JobAdmission.objects.get().pk
    words = answer.content.decode()
    assert words.startswith(
        "Runrate denies this job. Speech, monthly: with what came already the job exceeds it"
        " (needed 2,400.00, left 1,000.00 USD)."
    )
    assert f"--env RUNRATE_ADMISSION={number}" in words
    assert JobQuote.objects.count() == 0


def test_what_was_let_pass_is_launched_with_its_number_and_no_larger_job(secret: str) -> None:
    limit("1000", is_hard=True)
    asked(secret, TASK)
    number = JobAdmission.objects.get().pk
    again = task_with(RUNRATE_ADMISSION=str(number))
    assert asked(secret, again).status_code == 400

    finance, _ = signed_in("fin@example.org", "finance")
    path = f"admissions/{number}/override"
    assert finance.post(path, {"reason": "the paper is due"}).status_code == 200

    task = passed(secret, again)
    assert task["envs"]["RUNRATE_ADMISSION"] == str(number)
    assert f"let it pass (admission {number})" in task["envs"]["RUNRATE_WARNING"]
    larger = task_with(RUNRATE_ADMISSION=str(number), RUNRATE_HOURS="49")
    assert asked(secret, larger).status_code == 400
    other = task_with(RUNRATE_ADMISSION=str(number), RUNRATE_TEAM="Vision")
    assert passed(secret, other)["envs"]["RUNRATE_ADMISSION"] != str(number)
    assert asked(secret, TASK).status_code == 400
    assert asked(secret, task_with(RUNRATE_ADMISSION="9" * 5_000)).status_code == 400


def overridden(secret: str) -> int:
    """The number of an admission that was denied and let pass."""
    limit("1000", is_hard=True)
    asked(secret, TASK)
    number = JobAdmission.objects.get().pk
    finance, _ = signed_in("fin@example.org", "finance")
    assert finance.post(f"admissions/{number}/override", {"reason": "due"}).status_code == 200
    return number


def test_an_override_lets_one_task_pass_and_again_where_its_launch_is_tried_again(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = overridden(secret)
    own = task_with(RUNRATE_ADMISSION=str(number))

    for name in ("validate", "optimize"):
        passed(secret, own, request_name=name)
    looked_at = JobAdmission.objects.get(pk=number).used_at
    launched = passed(secret, own)
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(minutes=5))
    tried_again = passed(secret, own | {"file_mounts": {"/data": "/uploaded/again"}})
    other = asked(secret, own | {"run": "python other.py"})
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(minutes=6))
    later = asked(secret, own)

    assert looked_at is None
    for task in (launched, tried_again):
        assert task["envs"]["RUNRATE_ADMISSION"] == str(number)
    assert (other.status_code, later.status_code) == (400, 400)
    assert f"Admission {number} let one job pass already." in other.content.decode()
    finance, _ = signed_in("also@example.org", "finance")
    told = finance.get(f"admissions/{number}").json()
    assert told["used_at"] == "2026-03-02T14:00:00Z"
    assert told["used_by"].startswith("task:")
    assert launched["envs"]["RUNRATE_TEAM"] == "Speech"


def test_an_override_is_used_within_a_week_and_not_where_there_is_room(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = overridden(secret)
    monkeypatch.setattr(timezone, "now", lambda: AT + timedelta(days=7, minutes=1))
    late = asked(secret, task_with(RUNRATE_ADMISSION=str(number)))
    assert late.status_code == 400
    assert f"Admission {number} was let pass more than 7 days ago." in late.content.decode()

    Budget.objects.update(is_hard=False)
    monkeypatch.setattr(timezone, "now", lambda: AT)
    assert passed(secret, task_with(RUNRATE_ADMISSION=str(number)))
    assert JobAdmission.objects.get(pk=number).used_at is None


def test_a_soft_budget_warns_where_the_job_and_who_reads_its_output_see_it(secret: str) -> None:
    limit("1000", is_hard=False)

    task = passed(secret, TASK | {"setup": "pip install it's"})

    words = task["envs"]["RUNRATE_WARNING"]
    assert "Speech, monthly: with what came already the job exceeds it" in words
    first, rest = task["setup"].split("\n", 1)
    assert first.startswith("echo 'Runrate: Speech, monthly")
    assert rest == "pip install it's"


def test_what_is_only_looked_at_is_placed_and_not_kept(secret: str) -> None:
    for name in ("validate", "optimize"):
        task = passed(secret, TASK, request_name=name)
        assert places(task)[0] == ("aws/us-west-2", False)
        assert "RUNRATE_QUOTE" not in task["envs"]
    options = {"cluster_name": "c", "idle_minutes_to_autostop": None, "down": False, "dryrun": True}
    passed(secret, TASK, request_options=options)
    assert passed(secret, TASK, at_client_side=True, user="") == TASK
    assert (JobQuote.objects.count(), JobAdmission.objects.count()) == (0, 0)

    limit("1000", is_hard=True)
    assert asked(secret, TASK, at_client_side=True, user="").status_code == 400
    assert JobAdmission.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("exec", TASK),
        ("jobs.launch_cluster", TASK),
        ("serve.launch_replica", TASK),
        ("launch", {"name": "controller", "resources": {"cpus": "4+"}, "run": "x"}),
        ("launch", {"run": "x"}),
    ],
)
def test_what_starts_no_gpus_or_was_answered_before_goes_on_as_it_came(
    secret: str, name: str, task: dict[str, Any]
) -> None:
    assert passed(secret, task, request_name=name) == task
    assert JobAdmission.objects.count() == 0


def test_without_hours_nothing_is_guessed(secret: str) -> None:
    limit("1000000", is_hard=True)

    task = passed(secret, task_with(RUNRATE_HOURS=None))

    assert "ordered" not in task["resources"]
    assert "RUNRATE_QUOTE" not in task["envs"]
    assert "no place was chosen by cost: RUNRATE_HOURS" in task["envs"]["RUNRATE_WARNING"]
    assert "what the job needs of it is not known" in task["envs"]["RUNRATE_WARNING"]


def test_a_service_is_never_put_on_spot_by_us(secret: str) -> None:
    seen_on_spot()
    task = task_with() | {"service": {"readiness_probe": "/", "replicas": 2}}

    told = passed(secret, task, request_name="serve.up")

    assert True not in {is_spot for _, is_spot in places(told)}
    assert places(told)[0] == ("aws/us-west-2", False)


def test_the_team_is_said_or_its_workspace_or_its_tokens(secret: str) -> None:
    own = make.make_token("schedule", name="of vision", team_id=Team.objects.get(name="Vision").pk)
    plain = task_with(RUNRATE_TEAM=None)

    nobody = asked(secret, plain)
    assert nobody.status_code == 400
    assert "RUNRATE_TEAM: say in envs whose job it is" in nobody.content.decode()
    there = json.loads(asked(secret, plain, skypilot_config="active_workspace: Speech\n").json())
    assert yaml.safe_load(there["task"])["envs"]["RUNRATE_TEAM"] == "Speech"
    assert passed(own.secret, plain)["envs"]["RUNRATE_TEAM"] == "Vision"
    assert asked(own.secret, TASK).status_code == 400


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (task_with(RUNRATE_HOURS="soon"), "RUNRATE_HOURS: 'soon' is no number above 0"),
        (task_with(RUNRATE_HOURS="-1"), "RUNRATE_HOURS: '-1' is no number above 0"),
        (task_with(RUNRATE_HOURS="nan"), "RUNRATE_HOURS: 'nan' is no number above 0"),
        (task_with(RUNRATE_GPU_HOURS="9"), "say this or RUNRATE_GPU_HOURS"),
        (task_with(RUNRATE_DEADLINE="Friday"), "RUNRATE_DEADLINE: 'Friday' is no moment"),
        (task_with(RUNRATE_DEADLINE="2026-03-01T00:00:00Z"), "deadline: the deadline is over"),
        (task_with(RUNRATE_TEAM="Nobody"), "there is no team named 'Nobody'"),
        (TASK | {"resources": []}, "resources: is no mapping"),
        (TASK | {"num_nodes": "many"}, "num_nodes: is no number of nodes"),
        ("a: [", "task: is no YAML"),
        ("- a", "task: is no mapping"),
    ],
)
def test_what_is_not_understood_is_refused_in_words(secret: str, task: Any, words: str) -> None:
    answer = asked(secret, task)

    assert (answer.status_code, words in answer.content.decode()) == (400, True), answer.content


@pytest.mark.parametrize("body", ["", "{", "[]", "{}", '"x"', '"{}"', json.dumps("[" * 50_000)])
def test_what_is_no_request_is_refused(secret: str, body: str) -> None:
    answer = Client().post(
        "/api/v1/schedulers/skypilot/policy",
        body,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 400
    deep = "a: " + "[" * 3000
    assert asked(secret, deep).status_code == 400


def test_only_a_schedulers_token_asks_by_either_scheme(secret: str) -> None:
    assert asked(secret, TASK, f"Bearer {secret}").status_code == 200
    for authorization in ("Basic !!", "Basic " + b64encode(b"runrate:wrong").decode(), "Digest x"):
        assert asked(secret, TASK, authorization).status_code == 401
    manage = make.make_token("read", "manage", name="manager").secret
    assert asked(manage, TASK, f"Bearer {manage}").status_code == 403
    basic = "Basic " + b64encode(f"runrate:{manage}".encode()).decode()
    refused = Client().get("/api/v1/quotes", headers={"Authorization": basic})
    assert refused.status_code == 401
    ingest = make.make_token("ingest", name="an agent's").secret
    assert Caller(ingest).get("quotes").status_code == 403
    assert Caller(ingest).post("admissions", {}).status_code == 403


def test_no_secret_of_a_task_is_kept_or_logged(
    secret: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    passed(secret, TASK)

    kept = json.dumps([[row.job, row.answer] for row in JobQuote.objects.all()])
    kept += json.dumps([[row.job, row.answer] for row in JobAdmission.objects.all()])
    out = capsys.readouterr()
    assert "s3cret-of-ada" not in kept + out.out + out.err + caplog.text


def test_its_run_takes_the_offer_and_its_cost_comes_back(secret: str) -> None:
    """By the name that the policy gave it; the run of another team, or from before, is not it."""
    task = passed(secret, TASK)
    quote = JobQuote.objects.get()
    name = task["envs"]["RUNRATE_RUN"]
    assert [key.split(":")[0] for key in quote.expected] == ["market", "pool"]
    assert quote.run_name == name
    assert follow_quotes(at=AT + timedelta(hours=1)) == 0
    assert JobQuote.objects.get().chosen == ""

    team_id = Team.objects.get(name="Speech").pk
    begun = {"began_at": AT + HOUR, "ended_at": AT + 11 * HOUR, "gpus": 8, "team_id": team_id}
    run_id = planted_runs.plant_run(name, **begun | {"began_at": AT - HOUR})
    figures = RunFigures.objects.filter(run_id=run_id)
    for nothing in ({}, {"began_at": AT + HOUR, "team_id": Team.objects.get(name="Vision").pk}):
        figures.update(**nothing)
        follow_quotes(at=AT + 20 * HOUR)
        assert JobQuote.objects.get().chosen == ""

    charged = {"effective_micros": 500_000_000, "unit_milliseconds": 80 * 3_600_000}
    figures.update(team_id=team_id, unpriced_milliseconds=0, **charged)
    assert follow_quotes(at=AT + 20 * HOUR) == 1
    taken = JobQuote.objects.get()
    assert (taken.chosen, taken.taken_by_run_id) == (quote.expected[0], run_id)
    assert (taken.actual_micros, taken.actual_gpu_hours) == (500_000_000, 80.0)
    assert (taken.actual_hours, taken.taken_at) == (11.0, AT + HOUR)


def test_launches_without_a_run_and_places_of_another_book_keep_no_run_from_its_quote(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotes, "MOST_NAMES", 1)
    for _ in range(2):
        passed(secret, TASK)
    reported, silent = JobQuote.objects.order_by("id")
    JobQuote.objects.filter(pk=silent.pk).update(asked_at=AT - HOUR)
    JobQuote.objects.filter(pk=reported.pk).update(expected=["pool:0", *reported.expected])
    team_id = Team.objects.get(name="Speech").pk
    begun = {"began_at": AT + HOUR, "ended_at": AT + 11 * HOUR, "gpus": 8, "team_id": team_id}
    run_id = planted_runs.plant_run(reported.run_name, **begun)

    follow_quotes(at=AT + 20 * HOUR)

    taken = JobQuote.objects.get(pk=reported.pk)
    assert (taken.chosen, taken.taken_by_run_id) == (reported.expected[0], run_id)


def test_a_run_of_several_launches_takes_the_quote_of_the_last_before_it_began_alone(
    secret: str,
) -> None:
    for _ in range(3):
        passed(secret, task_with(RUNRATE_RUN="nightly"))
    first, last, later = JobQuote.objects.order_by("id")
    JobQuote.objects.filter(pk=later.pk).update(asked_at=AT + 2 * HOUR)
    team_id = Team.objects.get(name="Speech").pk
    begun = {"began_at": AT + HOUR, "ended_at": AT + 11 * HOUR, "gpus": 8, "team_id": team_id}
    run_id = planted_runs.plant_run("nightly", **begun)

    for hours in (20, 21):
        follow_quotes(at=AT + hours * HOUR)

    taken = dict(JobQuote.objects.values_list("id", "taken_by_run_id"))
    assert taken == {first.pk: None, last.pk: run_id, later.pk: None}


def test_the_quote_that_gave_the_places_is_the_one_that_is_kept(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answered once: a new offer book may come between two answers."""
    answered = []

    def counted(*given: Any) -> AnsweredQuote:
        answered.append(answer_quote(*given))
        return answered[-1]

    for module in (quotes, skypilot):
        monkeypatch.setattr(module, "answer_quote", counted)

    passed(secret, TASK)

    (found,) = answered
    kept = JobQuote.objects.get()
    assert (kept.digest, kept.answer) == (found.digest, found.answer)
