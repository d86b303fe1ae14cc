"""Notices of what is not known, said aloud: how much, what that means, and where it is answered."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.kit.frame import Link
from apps.console.kit.request import with_current_filters
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.managers import role_sentence
from apps.ledger.queries import Basis, OverviewFacts, Share
from apps.show.amounts import counted, gpu_hours
from apps.show.incidents import UNUSABLE
from apps.show.money import full_amount
from apps.show.words import basis_words, joined
from apps.telemetry.queries import open_incidents

MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Notice:
    """Something unknown, said aloud: what it is, how much of it, and what to do.

    `kind` is unpriced, unowned, unobserved, unclaimed, contested or incidents; `href` leads to its rows.
    """

    kind: str
    amount: str
    sentence: str
    link: Link | None = None
    href: str = ""


def notices(cost_query: CostQuery, facts: OverviewFacts) -> tuple[Notice, ...]:
    """Only what occurs in the period."""
    period_notices = tuple(_period_notices(cost_query, facts))
    if cost_query.context.viewer.sees_everything:
        return tuple(
            replace(
                period_notice,
                link=period_notice.link
                and with_current_filters(period_notice.link, cost_query.context),
            )
            for period_notice in (*period_notices, *_fleet_notices())
        )
    # Setup is not theirs to answer.
    return tuple(replace(notice, link=None) for notice in period_notices)


def _period_notices(cost_query: CostQuery, facts: OverviewFacts) -> Iterator[Notice]:
    may_manage = cost_query.context.viewer.may_manage
    if facts.unpriced:
        yield _unpriced_notice(cost_query.question.basis, facts)
    for kind, part, sentence, link in (
        (
            "unobserved",
            facts.unobserved,
            "was held by jobs while no agent reported whether it was active, so it counts neither "
            "as active nor as idle.",
            None,
        ),
        (
            "unowned",
            facts.unowned,
            "belongs to jobs that no ownership rule assigns to a team."
            + ("" if may_manage else f" {role_sentence('assigns them')}"),
            _setup_link("Assign an owner", "unowned-accounts") if may_manage else None,
        ),
        (
            "unclaimed",
            facts.unclaimed,
            "was used by processes of no known job.",
            _setup_link("See the processes", "unclaimed-work"),
        ),
        (
            "contested",
            facts.contested,
            "was claimed by more jobs than there was of it; the claims were scaled down.",
            None,
        ),
    ):
        if part.micros or part.gpu_milliseconds:
            href = _unowned_rows(cost_query, facts) if kind == "unowned" else ""
            yield Notice(
                kind, amount_words(part, full_amount, cost_query.currency), sentence, link, href
            )


def _fleet_notices() -> Iterator[Notice]:
    lasting = open_incidents(UNUSABLE)
    if lasting:
        yield Notice(
            "incidents",
            counted(lasting, "open incident"),
            "may keep GPUs from being used, for how long is not known yet.",
            Link("See what to do", f"{reverse('incidents')}?open=yes"),
        )


def _unpriced_notice(basis: Basis, facts: OverviewFacts) -> Notice:
    hours = gpu_hours(sum(pool.gpu_milliseconds for pool in facts.unpriced))
    names = [pool.name for pool in facts.unpriced[:MOST_NAMES]]
    if len(facts.unpriced) > MOST_NAMES:
        names.append(f"{len(facts.unpriced) - MOST_NAMES} more")
    if basis == Basis.BILLED:
        sentence = f"of {joined(names)} are on no bill that was read."
        return Notice("unpriced", f"{hours} GPU-hours", sentence)
    label = "" if basis == Basis.EFFECTIVE else f"{basis_words(str(basis)).label.lower()} "
    return Notice(
        "unpriced",
        f"{hours} GPU-hours",
        f"of {joined(names)} have no {label}price. What they cost is in no sum on this page.",
        _price_link(facts),
    )


def _price_link(facts: OverviewFacts) -> Link:
    """To the form of a price where one pool has none, else to those that have none."""
    if len(facts.unpriced) > 1:
        return _setup_link("Give them a price", "unpriced-pools")
    query = urlencode({"pool": facts.unpriced[0].pool_id, "back_to": "overview"})
    return Link("Give it a price", f"{reverse('add-rate')}?{query}")


def _unowned_rows(cost_query: CostQuery, facts: OverviewFacts) -> str:
    kinds = {team.id: team.kind for team in accounts.teams()}
    ids = [team_id for team_id in facts.teams if kinds[team_id] == "unowned"]
    return cost_query.down("costs-team", ids[0]) if ids else ""


def amount_words(part: Share, shown: Callable[[int | None, str], str], currency: str) -> str:
    """The money, and the GPU time where the money is not known."""
    if part.micros is None:
        return f"{gpu_hours(part.gpu_milliseconds)} GPU-hours"
    return shown(part.micros, currency)


def _setup_link(text: str, question: str) -> Link:
    return Link(text, f"{reverse('setup')}#{question}")
