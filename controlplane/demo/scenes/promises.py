"""What services promise, what was deployed to them, and which models were shipped."""

from datetime import timedelta

from apps.workloads.actions.slos import add_objective
from apps.workloads.queries.promises import EnteredObjective
from controlplane.demo.company import Company

JUDGED_FOR = timedelta(hours=236)
"""So long before the last week a second model reads every answer of chat."""
PROMISES = (
    ("Assistant", "chat-serving", "latency", 8.0, 0.98),
    ("Assistant", "chat-serving", "availability", None, 0.99),
    ("Search", "search-serving", "latency", 0.5, 0.9),
    ("Search", "search-serving", "availability", None, 0.999),
)


SHIPPED = (
    ("30010", timedelta(hours=1240)),
    ("30013", timedelta(hours=738)),
    ("30021", timedelta(hours=410)),
    ("30030", timedelta(hours=272)),
)
"""Jobs of whose runs a model was shipped, so long before the last week."""


def promise_answers(company: Company) -> None:
    """Services promise how soon they answer: one keeps to it, one does not."""
    for team, workload, measure, within_seconds, target_ratio in PROMISES:
        add_objective(
            objective=EnteredObjective(
                workload_id=company.workload(team, workload),
                feature="",
                measure=measure,
                within_seconds=within_seconds,
                target_ratio=target_ratio,
                starts_at=company.since,
            )
        )


def deploy_a_judge(company: Company) -> None:
    """A deployment puts a second model behind chat, and the last week takes it away again."""
    last = company.week.starts_at
    for name, moment in (
        ("2.4: a second model reads every answer", last - JUDGED_FOR),
        ("2.4.1: the second model is gone again", last),
    ):
        company.doors.post(
            "workload-changes",
            company.doors.tokens["jobs"]["harbor"],
            {
                "team": "Assistant", "workload": "chat-serving", "kind": "deploy", "name": name,
                "at": moment.isoformat(),
            },
        )  # fmt: skip


def ship_models(company: Company) -> None:
    """Models are shipped, each from the run that trained it."""
    for number, (job, before) in enumerate(SHIPPED, 1):
        at = company.week.starts_at - before
        if at < company.since:
            continue
        company.doors.post(
            "workload-changes",
            company.doors.tokens["jobs"]["atlas"],
            {
                "team": "Language models", "workload": "pretrain-7b", "kind": "model",
                "name": f"helios-7b-v{number}", "at": at.isoformat(), "run": f"pretrain-7b-{job}",
            },
        )  # fmt: skip
