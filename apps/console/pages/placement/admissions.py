"""The admissions log: which jobs were allowed, warned of or denied, by which limit, and who let one pass."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.urls import path, reverse

from apps.accounts import queries as accounts
from apps.console.kit.change import Change, ChangeForm, ChangePreview, Done, changing
from apps.console.kit.chart import Figure, FigureRow
from apps.console.kit.entries import TextField
from apps.console.kit.filters import (
    Reading,
    filter_of,
    key_parser,
    name_filter,
    named_in,
    period_filter,
)
from apps.console.kit.frame import EmptyState, Filter, Link, Step
from apps.console.kit.page import ConsolePage, FactList, shown
from apps.console.kit.periods import (
    DEFAULT_PERIOD,
    DEFAULT_PERIOD_WORDS,
    PeriodWords,
    period_words,
)
from apps.console.kit.request import SEES_EVERYTHING, Context, value_or_404
from apps.console.kit.table import Table
from apps.console.pages.placement import admission_words as words
from apps.console.pages.placement.admission_tables import ADMISSIONS, Limit, limit_table
from apps.console.pages.placement.tabs import placement_tabs
from apps.ledger import queries as ledger
from apps.placement import actions
from apps.placement.queries.admission_limits import DENY
from apps.placement.queries.admissions import (
    OVERRIDE_HOLDS,
    AdmissionCounts,
    AdmissionFact,
    admission_counts,
    admission_if_stored,
    has_admissions,
    limit_names,
    newest_admissions,
    wanted_admissions,
)
from apps.planning.queries.budgets import budgets
from apps.show.amounts import per_cent
from apps.show.money import full_amount
from apps.show.time import instant

MOST_LISTED, MOST_IN_FILE = 500, 20_000
DEFAULTS = {"window": DEFAULT_PERIOD, "answer": "", "team": "", "limit": ""}
WORDS = {
    "window": DEFAULT_PERIOD_WORDS,
    "answer": "every answer",
    "team": "all teams",
    "limit": "whatever they were held against",
}
ASKING = """curl -X POST "$RUNRATE_URL/api/v1/admissions" -H "Authorization: Bearer $TOKEN" \\
  -H "Content-Type: application/json" -d '{"team": "Research", "gpus": 8, "hours": 48, "pool": "h100"}'"""


class AdmissionsQuery:
    """The question that the address asks of admissions: a span, an answer, teams with those below, a limit."""

    def __init__(self, context: Context) -> None:
        reading = Reading(context.query, DEFAULTS, WORDS)
        self.context, self.reading = context, reading
        self.teams = {team.name: team.id for team in accounts.teams()}
        self.limits = limit_names()
        self.window: ledger.Window = reading.read(
            "window", lambda text: ledger.window_of(text, context.calendar)
        )
        answer_key = key_parser({"", *words.ANSWERS}, "There is no answer {!r}.")
        verdict: str = reading.read("answer", answer_key)
        chosen = reading.read("team", lambda text: named_in(text, self.teams, "team"))
        limit = reading.read("limit", key_parser({"", *self.limits}, "There is no limit {!r}."))
        self.wanted = wanted_admissions(self.window, chosen, verdict, limit)

    @property
    def said(self) -> PeriodWords:
        """The span in words."""
        return period_words(self.window, self.context.calendar.today)

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The filter bar."""
        texts = self.reading.texts
        bar = [
            period_filter(texts, self.said),
            filter_of("answer", "Answer", {"": "All", **words.ANSWERS}, texts),
            name_filter("team", "Team", sorted(self.teams), texts, "All teams"),
        ]
        if self.limits:
            named = {"": "Any limit", **self.limits}
            bar.append(filter_of("limit", "Held against", named, texts))
        return tuple(bar)

    def rows(self, most: int) -> list[AdmissionFact]:
        """The newest of them."""
        return newest_admissions(self.wanted, most)


def limit_href(kind: str, limit_id: int) -> str:
    """The jobs that were held against a limit."""
    return f"{reverse('admissions')}?limit={kind}:{limit_id}"


@shown(SEES_EVERYTHING, "placement")
def admission_list(context: Context) -> ConsolePage:
    """Every job of a span that asked, and how it was answered."""
    question = AdmissionsQuery(context)
    counts, rows = admission_counts(question.wanted), question.rows(MOST_LISTED)
    newest = f"the newest {MOST_LISTED:,} are listed, CSV has {MOST_IN_FILE:,}"
    return ConsolePage(
        context=context,
        finding=words.list_finding(counts, question.said)
        if counts.asked
        else f"No job asked {question.said.within} whether it may start",
        under=(
            f"{question.said.days}; Runrate answers, the scheduler decides",
            *((newest,) if len(rows) == MOST_LISTED else ()),
        ),
        tabs=placement_tabs("admissions"),
        filters=question.filters,
        problems=tuple(question.reading.problems),
        sections=(
            FigureRow(_key_figures(counts, question)) if counts.asked else None,
            ADMISSIONS.section(
                rows, context, csv_name="admissions", csv_rows=lambda: question.rows(MOST_IN_FILE)
            ),
        ),
        empty=None if counts.asked else _no_admissions_state(question),
    )


@shown(SEES_EVERYTHING, "placement")
def admission_page(context: Context, admission_id: int) -> ConsolePage:
    """One admission with every limit that it was held against, and who let it pass."""
    fact = value_or_404(admission_if_stored(admission_id))
    return ConsolePage(
        context=context,
        finding=words.one_finding(fact),
        under=(
            f"asked {instant(fact.asked_at, context.zone)} by {fact.asked_name}",
            words.work_words(fact),
        ),
        back=Link("All admissions", reverse("admissions")),
        actions=_ways_on(fact),
        sections=(
            _limits_table(fact).section(fact.limits, context, csv_name=f"admission-{fact.id}"),
            FactList(_facts_of(fact, context)),
        ),
    )


def _ways_on(fact: AdmissionFact) -> tuple[Link, ...]:
    """To override it; or, where somebody did, to what the database wrote down of it."""
    if not fact.is_admitted:
        return (Link("Override", reverse("override-admission", args=[fact.id])),)
    kind = urlencode({"kind": "override of an admission"})
    trail = Link("Audit trail", f"{reverse('trail')}?{kind}")
    return (trail,) if fact.overridden_at else ()


class OverrideForm(ChangeForm):
    """Why it may start all the same."""

    reason = TextField(
        "Why it may start all the same",
        "Kept with the admission, with your name, and in the audit trail.",
        needed="Say why it may start all the same.",
        longest=actions.LONGEST_OVERRIDE_REASON,
    )


@changing(SEES_EVERYTHING, "placement")
def override_admission(context: Context, admission_id: int) -> Change[Mapping[str, Any]]:
    """Says which limits the job goes over, then lets it pass with a reason."""
    fact = value_or_404(admission_if_stored(admission_id))

    def apply(entered: Mapping[str, Any]) -> Done:
        actions.override_admission(
            admission_id=fact.id, reason=entered["reason"], by=context.viewer, at=context.at
        )
        return "The job may start all the same.", ("admission", fact.id)

    return Change(
        finding=f"Let {words.job_name(fact)} pass",
        explanation=f"It was denied: {words.decided_words(fact)}.",
        back=Link("Back to the admission", reverse("admission", args=[fact.id])),
        form=OverrideForm,
        confirm="Let this job pass",
        read=lambda entered: entered,
        effects=lambda _: _effects_of(fact),
        apply=apply,
        empty=_nothing_to_override(fact) if fact.is_admitted else None,
    )


def _effects_of(fact: AdmissionFact) -> ChangePreview:
    denying = [limit["name"] for limit in fact.limits if limit["verdict"] == DENY]
    return ChangePreview(
        (
            "Over REST this admission says from now on that the job may start (is_admitted).",
            f"One job passes by it within {OVERRIDE_HOLDS.days} days, on Slurm or SkyPilot; what asks over REST sees that it is overridden.",
            f"It goes over {', '.join(denying)}: no limit is changed by it, and the next job is denied as before.",
            "Your name, the time and the reason stand beside the answer for good; this cannot be taken back.",
        )
    )


def _nothing_to_override(fact: AdmissionFact) -> EmptyState:
    if fact.verdict != DENY:
        return EmptyState(
            "There is nothing to override", f"It was {words.ANSWERS[fact.verdict].lower()}."
        )
    return EmptyState("There is nothing to override", f"{fact.overridden_name} did so already.")


def _limits_table(fact: AdmissionFact) -> Table[Limit]:
    return limit_table(frozenset(budget.id for budget in budgets(None) if fact.limits))


def _key_figures(counts: AdmissionCounts, question: AdmissionsQuery) -> tuple[Figure, ...]:
    def share(number: int) -> str:
        return f"{per_cent(number / counts.asked)} of those that asked"

    def narrowed(answer: str) -> str:
        return question.reading.href(question.context.path, answer=answer)

    allowed = counts.asked - counts.warned - counts.denied
    return (
        Figure("Allowed", f"{allowed:,}", share(allowed), href=narrowed("allow")),
        Figure("Warned", f"{counts.warned:,}", "a soft limit, or one that is only expected or not known", href=narrowed("warn")),
        Figure("Denied", f"{counts.denied:,}", "by a hard limit that was over then", href=narrowed("deny")),
        Figure("Overridden", f"{counts.overridden:,}", "denied, and let pass by somebody"),
    )  # fmt: skip


def _facts_of(fact: AdmissionFact, context: Context) -> tuple[tuple[str, str], ...]:
    cost, job = fact.answer["cost_micros"], fact.job
    facts = [
        ("Team", fact.team),
        ("Workload", fact.workload or "none said"),
        ("Place", fact.pool or ":".join(filter(None, (job["gpu_model"], job["provider"], job["region"])))),
        ("Cost", f"{full_amount(cost, context.currency)}: {fact.answer['cost_from']}"),
        ("Besides", "; ".join(fact.answer["notes"]) or "nothing"),
        ("Digest of the job and of every figure it was held against", fact.digest),
    ]  # fmt: skip
    if fact.overridden_at is not None:
        when = instant(fact.overridden_at, context.zone)
        facts.append(("Overridden", f"{when} by {fact.overridden_name}: {fact.override_reason}"))
        facts.append(("Used", words.use_words(fact, context.zone)))
    return tuple(facts)


def _no_admissions_state(question: AdmissionsQuery) -> EmptyState:
    if has_admissions():
        longer = question.reading.href(question.context.path, **DEFAULTS | {"window": "90d"})
        return EmptyState(
            "No job asked that this shows",
            "Jobs asked at other times, or of other teams or limits.",
            (Step("Look further back.", link=Link("All of the last 90 days", longer)),),
        )
    return EmptyState(
        "No job has asked yet",
        "Before it starts a job, a scheduler may ask whether budgets and quotas have room for it. The answer is allow, "
        "warn or deny, with each limit and what was left of it; it is listed here, and a denied job can be let pass "
        "by finance or platform, with a reason.",
        (
            Step(
                "Say what may be spent, and whether jobs over it are warned of or denied.",
                link=Link("Budgets", reverse("budgets")),
            ),
            Step(
                "Have the scheduler ask, with a token of the organisation's that may manage:",
                command=ASKING,
            ),
        ),
    )


urlpatterns = [
    path("placement/admissions", admission_list, name="admissions"),
    path("placement/admissions/<int:admission_id>", admission_page, name="admission"),
    path(
        "placement/admissions/<int:admission_id>/override",
        override_admission,
        name="override-admission",
    ),
]
