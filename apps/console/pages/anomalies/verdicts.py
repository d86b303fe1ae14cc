"""Verdicts of people on an anomaly of either kind: it is explained, it was none, nothing is to be told of its series."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.accounts.queries import Role, Viewer
from apps.console.kit.change import Change, ChangeForm, Done, changing
from apps.console.kit.entries import MomentField, PickField, TextField
from apps.console.kit.frame import Link
from apps.console.kit.request import Context, value_or_404
from apps.console.kit.table import TableSection
from apps.console.pages.anomalies.tables import SAID
from apps.review import actions
from apps.review.queries import findings
from apps.review.queries.alerts import may_answer
from apps.review.queries.finding_words import figure_of, figure_of_all, title_of
from apps.review.queries.findings import FindingFact
from apps.review.queries.spend_anomalies import SUBJECTS, SpendFact, spend_anomaly
from apps.review.queries.spend_words import spend_title
from apps.review.queries.verdicts import (
    EXPLAINED,
    FALSE_ALARM,
    FINDING,
    SPEND,
    VERDICT_WORDS,
    JudgedAnomaly,
    VerdictFact,
    kind_series,
    verdict_of,
    verdicts_of,
)
from apps.show.time import instant
from apps.workloads.queries import workloads

JUDGES = frozenset({Role.FINANCE, Role.PLATFORM, Role.LEAD})
THIS, ALL = "this", "all"
PAGES = {SPEND: "spend-anomaly", FINDING: "finding"}
"""The page of each kind; its forms are called so too, with what they do after it."""
IDS = {SPEND: ("anomaly_id", "verdict_id"), FINDING: ("finding_id", "finding_verdict_id")}
"""What addresses of each kind call an anomaly, and what was said of one."""


@dataclass(frozen=True, slots=True)
class AnomalySubject:
    """An anomaly as its forms speak of it: its title, its series, all series of its kind, and what is usual once it is explained."""

    judged: JudgedAnomaly
    state: str
    title: str
    series: str
    kind: str
    usual: str

    @property
    def page(self) -> tuple[str, int]:
        """Its page, as `redirect` takes it."""
        return PAGES[self.judged.kind], self.judged.id

    def href(self, change: str, *ids: int) -> str:
        """The address of a form about it."""
        return reverse(f"{PAGES[self.judged.kind]}-{change}", args=[self.judged.id, *ids])


class VerdictForm(ChangeForm):
    """Why."""

    reason = TextField(
        "Because", "Kept with it, with your name.", longest=actions.LONGEST_VERDICT_REASON
    )


class MuteSeriesForm(VerdictForm):
    """Of what, and until when."""

    of = PickField("Of")
    until = MomentField("Until", "Empty: until somebody takes it back.", is_needed=False)


@changing(JUDGES, "findings")
def explain(context: Context, /, **ids: int) -> Change[str]:
    """Says what it was: its level is the usual one from now on."""
    anomaly = _requested_anomaly(ids, context)
    return _judged(context, anomaly, EXPLAINED, "Explain", (anomaly.usual,))


@changing(JUDGES, "findings")
def call_false(context: Context, /, **ids: int) -> Change[str]:
    """Says that it was none: the series is looked at more strictly."""
    return _judged(
        context,
        _requested_anomaly(ids, context),
        FALSE_ALARM,
        "False alarm",
        (
            "For a year this series has to be 1.3 times as far out of line to be reported; no more than three times, "
            "whatever is called false.",
        ),
    )


@changing(JUDGES, "findings")
def mute(context: Context, /, **ids: int) -> Change[Mapping[str, Any]]:
    """Says that nothing is to be told of its series, or of all of its kind."""
    anomaly = _requested_anomaly(ids, context)
    picks = {THIS: anomaly.series}
    if context.seen_teams is None:
        picks[ALL] = anomaly.kind

    def apply(entered: Mapping[str, Any]) -> Done:
        series = anomaly.judged.series
        actions.mute_series(
            series=kind_series(series) if entered["of"] == ALL else series,
            until=entered["until"],
            reason=entered["reason"],
            by=context.viewer,
            at=context.at,
        )
        return "It is muted.", anomaly.page

    def effects(entered: Mapping[str, Any]) -> Sequence[str]:
        until = "until somebody takes it back"
        if entered["until"] is not None:
            until = f"until {instant(entered['until'], context.zone)}"
        return (
            f"No alert is raised of {picks[entered['of']]} {until}.",
            "What is found meanwhile stands in the list as muted.",
        )

    return Change(
        finding=f"Mute: {anomaly.title}",
        explanation="Who, when and why are kept with it.",
        back=_back_to(anomaly),
        form=MuteSeriesForm,
        confirm="Mute it",
        read=dict,
        effects=effects,
        apply=apply,
        picks={"of": picks},
        initial={"of": THIS},
    )


@changing(JUDGES, "findings")
def take_back(context: Context, /, **ids: int) -> Change[str]:
    """Lets something that was said count no more."""
    anomaly = _requested_anomaly(ids, context)
    verdict_id, series = ids[IDS[anomaly.judged.kind][1]], anomaly.judged.series
    verdict = value_or_404(verdict_of(verdict_id, series, of_kinds=context.seen_teams is None))

    def apply(reason: str) -> Done:
        actions.take_back_verdict(
            verdict_id=verdict.id, reason=reason, by=context.viewer, at=context.at
        )
        return "It is taken back.", anomaly.page

    return Change(
        finding=f"Take back: {VERDICT_WORDS[verdict.verdict]}, said by {verdict.who}",
        explanation="It stays in the history, and counts no more.",
        back=_back_to(anomaly),
        form=VerdictForm,
        confirm="Take it back",
        read=lambda entered: str(entered["reason"]),
        effects=lambda _: ("The series is looked at and reported as if it had not been said.",),
        apply=apply,
    )


def may_judge(viewer: Viewer) -> bool:
    """Whether this viewer may say something of what they see: who answers alerts."""
    return may_answer(viewer)


def get_anomaly_or_404(anomaly_id: int, context: Context) -> SpendFact:
    """The anomaly of spend, or the page that there is none: another team's is as if it were not there."""
    return value_or_404(spend_anomaly(anomaly_id, context.seen_teams, context.at))


def get_finding_or_404(finding_id: int, context: Context) -> FindingFact:
    """The change of a figure, or the page that there is none."""
    return value_or_404(findings.finding(finding_id, context.seen_teams, context.at))


def spend_subject(spend_fact: SpendFact, currency: str) -> AnomalySubject:
    """An anomaly of spend as its forms speak of it."""
    return AnomalySubject(
        judged=spend_fact.judged,
        state=spend_fact.state,
        title=spend_title(spend_fact, currency),
        series=f"the spend of {spend_fact.name}",
        kind=f"the spend of every {SUBJECTS[spend_fact.subject]}",
        usual="What is spent now is the usual level of this series: only more than that is reported again.",
    )


def finding_subject(finding: FindingFact) -> AnomalySubject:
    """A change of a figure as its forms speak of it."""
    name = workloads()[finding.workload_id].name
    return AnomalySubject(
        judged=finding.judged,
        state=finding.state,
        title=title_of(finding, name),
        series=figure_of(finding, name),
        kind=figure_of_all(finding),
        usual="The level since is the usual one of this series: only what changes from it is reported again, "
        "within a week too.",
    )


def answer_links(anomaly: AnomalySubject, context: Context) -> tuple[Link, ...]:
    """Return links to what this viewer may say of an anomaly now."""
    if not may_judge(context.viewer):
        return ()
    ways = [("Mute", "mute")]
    if anomaly.state not in (EXPLAINED, FALSE_ALARM):
        ways = [("Explain", "explain"), ("False alarm", "false-alarm"), *ways]
    return tuple(Link(text, anomaly.href(change)) for text, change in ways)


def verdicts_section(anomaly: AnomalySubject, context: Context) -> TableSection:
    """Return the section of what was said of an anomaly's series, each with the way to take it back."""
    verdicts = verdicts_of([anomaly.judged.series])
    return SAID.section(
        [(verdict, _way_back(verdict, anomaly, context)) for verdict in verdicts], context
    )


def _way_back(verdict: VerdictFact, anomaly: AnomalySubject, context: Context) -> str:
    """Where it is taken back: of a mute of a whole kind by who sees everything."""
    if verdict.is_taken_back or not may_judge(context.viewer):
        return ""
    if verdict.is_of_kind and context.seen_teams is not None:
        return ""
    return anomaly.href("take-back", verdict.id)


def _requested_anomaly(ids: Mapping[str, int], context: Context) -> AnomalySubject:
    """The one that an address names."""
    of_spend, of_finding = (IDS[kind][0] for kind in (SPEND, FINDING))
    if of_finding in ids:
        return finding_subject(get_finding_or_404(ids[of_finding], context))
    return spend_subject(get_anomaly_or_404(ids[of_spend], context), context.currency)


def _judged(
    context: Context, anomaly: AnomalySubject, verdict: str, verb: str, effects: Sequence[str]
) -> Change[str]:
    def apply(reason: str) -> Done:
        actions.judge_anomaly(
            anomaly=anomaly.judged, verdict=verdict, reason=reason, by=context.viewer, at=context.at
        )
        return f"It is {VERDICT_WORDS[verdict]} now.", anomaly.page

    return Change(
        finding=f"{verb}: {anomaly.title}",
        explanation="Who, when and why are kept with it, and its alert is resolved.",
        back=_back_to(anomaly),
        form=VerdictForm,
        confirm=f"{verb}: say so",
        read=lambda entered: str(entered["reason"]),
        effects=lambda _: effects,
        apply=apply,
    )


def _back_to(anomaly: AnomalySubject) -> Link:
    return Link("Back to the anomaly", reverse(anomaly.page[0], args=[anomaly.page[1]]))
