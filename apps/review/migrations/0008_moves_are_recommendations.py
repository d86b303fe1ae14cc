"""Fleet moves of before are recommendations too: what became of each, its terms, and since when it is proposed.

What a look writes is written here as it was on the day of this migration: later looks may write otherwise.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import migrations

from apps.accounts.migrations._rows import ChangedRows
from apps.show.money import rounded_amount

TITLES = {
    "to_spot": "Run {subject} on spot",
    "to_commitment": "Commit to {subject}",
    "elsewhere": "Run {subject} at {target}",
    "to_api": "Buy {subject} from an API",
    "to_smaller": "Give {subject} smaller GPUs",
}
SOUGHT = {
    "to_spot": "more interruptions, dearer spot hours and less work than the mean",
    "to_commitment": "weeks in which less of it would have been used",
    "elsewhere": "dearer hours and less work there than the mean",
    "to_api": "dearer calls and more of them than the mean",
    "to_smaller": "windows in which it needed more, and dearer hours there than the mean",
}
COMPUTED = (
    "What its GPU-hours paid by the hour were charged in the last weeks, less what they would cost as proposed: the 10th, 50th"
    " and 90th percentile over work, price and interruptions at their ends, none above what is spent there"
)
PAGES = {
    "run": "/runs/{}",
    "rate": "/prices/{}",
    "quote": "/placement/quotes/{}",
    "scenario": "/crossover/{}",
    "portfolio": "/portfolio/{}",
}
NOT_RECORDED = "not recorded"
"""In place of a reason where a closed recommendation has to have one."""
FROZEN = ("claimed", "done", "verified", "failed")
"""States in which the proposal is that of the claim."""
FORMER_PAGE = "/placement/moves/"
"""Where the evidence led to the page of a move, which is the recommendation's own page now."""
LOOK_PAGE = "/recommendations/fleet-looks"
NOT_GROUPED = 0
"""Group of what is not added up yet: the next weekly analysis or answer finds what it overlaps with."""
LEFT = ("dismissed", "closed")
"""States in which the proposal is that of the moment it came to them."""


def carry_moves(apps: Any, schema: object) -> None:
    """Make a recommendation of each matter that has none, and complete those that there are."""
    looks = list(apps.get_model("placement", "FleetMoveLook").objects.order_by("week"))
    if not looks:
        return
    recommendations = apps.get_model("review", "Recommendation").objects
    currency = apps.get_model("accounts", "Organisation").objects.get().currency
    for move in apps.get_model("placement", "FleetMove").objects.order_by("id"):
        proposals = {row.look_id: row for row in move.proposals.order_by("id")}
        if not proposals:
            continue
        row = recommendations.filter(matter=move.key).first()
        if row is None:
            _make_recommendation(apps, move, looks, proposals, currency)
        else:
            _complete(row, move, looks, proposals)


def _make_recommendation(
    apps: Any, move: Any, looks: Sequence[Any], proposals: Mapping[int, Any], currency: str
) -> None:
    """Open or closed as it is; what is open is added up from the next look or answer on, which knows what else is for its dollars."""
    in_order = [look for look in looks if look.pk in proposals]
    steps = list(_steps(move.key, looks, proposals))
    at, verb, why = steps[-1]
    row = apps.get_model("review", "Recommendation").objects.create(
        matter=move.key,
        kind=move.kind,
        team_id=move.team_id if move.workload_id is not None else None,
        workload_id=move.workload_id,
        pool_id=move.pool_id,
        proposal=_proposal(move, in_order[-1], proposals[in_order[-1].pk], currency),
        exclusive_group=NOT_GROUPED,
        is_counted=False,
        first_week=move.opened_week,
        last_week=in_order[-1].week,
        state="closed" if verb == "closed" else "open",
        state_at=at,
        state_reason=why or (NOT_RECORDED if verb == "closed" else ""),
    )
    if row.state == "closed":
        row.exclusive_group = row.pk
        row.save(update_fields=["exclusive_group"])
    steps_made = apps.get_model("review", "RecommendationStep").objects
    for at, verb, why in steps:
        steps_made.create(recommendation=row, at=at, verb=verb, why=why)


def _steps(
    key: str, looks: Sequence[Any], proposals: Mapping[int, Any]
) -> Iterator[tuple[Any, str, str]]:
    """When, what and why, look by look. Why it was closed is empty where a later look opened it again: that was not kept."""
    is_open, is_first = False, True
    for look in looks:
        if look.pk in proposals and not is_open:
            yield look.made_at, "proposed" if is_first else "proposed_again", ""
            is_open, is_first = True, False
        elif look.pk not in proposals and is_open:
            yield look.made_at, "closed", look.declined.get(key, "")
            is_open = False


def _complete(row: Any, move: Any, looks: Sequence[Any], proposals: Mapping[int, Any]) -> None:
    """Give it the terms of the look that its proposal is of, and the week in which it was first proposed."""
    until = row.claimed_at if row.state in FROZEN else row.state_at if row.state in LEFT else None
    in_order = [look for look in looks if look.pk in proposals]
    before = [look for look in in_order if until is None or look.made_at <= until]
    newest = before[-1] if before else in_order[0]
    document = proposals[newest.pk].document
    row.proposal["move"] = _terms(document)
    refs = {(one["kind"].capitalize(), one["words"]): one["ref"] for one in document["evidence"]}
    row.proposal["evidence"] = [
        _look_evidence(move, newest)
        if one["link"].startswith(FORMER_PAGE)
        else one | {"ref": refs.get((one["label"], one["figure"]), "")}
        for one in row.proposal["evidence"]
    ]
    row.first_week = min(row.first_week, move.opened_week)
    row.save(update_fields=["proposal", "first_week"])


def _terms(document: Mapping[str, Any]) -> dict[str, Any]:
    one_time, disruption = document["one_time"], document["disruption"]
    return {
        "source": document["source"],
        "target": document["target"],
        "egress_micros": one_time["egress_micros"],
        "restart_micros": one_time["restart_micros"],
        "effort_micros": one_time["effort_micros"],
        "payback_months": document["payback_months"],
        "interruptions_per_month": disruption["interruptions_per_month"],
        "restart_hours_per_month": disruption["restart_hours_per_month"],
        "confidence": document["confidence"],
    }


def _proposal(move: Any, look: Any, proposed: Any, currency: str) -> dict[str, Any]:
    """As a look at recommendations writes what the look at the fleet proposes."""
    document, kind = proposed.document, move.kind
    subject, source, target = document["subject"], document["source"], document["target"]
    least = rounded_amount(document["saving"]["low"], currency)
    # What others would take of the rest of a GPU of its own is not known.
    is_slice = kind == "to_smaller" and all(one["kind"] != "offer" for one in document["evidence"])
    return {
        "title": TITLES[kind].format(subject=subject, target=target),
        "subject": subject,
        "spend_micros": document["spend_micros"],
        "saving": document["saving"],
        "effort_hours": document["one_time"]["effort_hours"],
        "risk": document["disruption"]["level"],
        "risk_reason": document["disruption"]["reason"],
        "why": f"From {source} to {target}. {document['why']}",
        "computed": COMPUTED,
        "cells": document.get("cells")
        or [f"moves of {look.week}, group {proposed.exclusive_group}"],
        "evidence": [_look_evidence(move, look), *map(_evidence, document["evidence"])],
        "doubts": [
            f"looked for {SOUGHT[kind]}: at the worse end (p10) it saves {least} a month",
            *document["doubts"],
        ],
        "one_time_micros": document["one_time_micros"],
        "frees_gpu_hours": None,
        "baseline": {"seen_from": look.seen_from.isoformat(), "source": source},
        "range_basis": "assumed" if is_slice else "measured",
        "move": _terms(document),
        "worth_micros": document.get("worth_micros", document["saving"]["likely"]),
    }


def _look_evidence(move: Any, look: Any) -> dict[str, Any]:
    return {
        "label": "Weekly fleet analysis",
        "figure": f"since {move.opened_week:%-d %B %Y}",
        "link": f"{LOOK_PAGE}?week={look.week.isoformat()}",
        "is_price": False,
        "ref": "",
    }


def _evidence(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "label": one["kind"].capitalize(),
        "figure": one["words"],
        "link": PAGES.get(one["kind"], "").format(one["ref"]),
        "is_price": one.get("is_price", False),
        "ref": one["ref"],
    }


def leave_terms_out(apps: Any, schema: object) -> None:
    """Leave out of what is proposed what was not kept before; what was carried over stays a recommendation."""
    move_ids = dict(apps.get_model("placement", "FleetMove").objects.values_list("key", "id"))
    for row in apps.get_model("review", "Recommendation").objects.order_by("id"):
        row.proposal.pop("move", None)
        for one in row.proposal["evidence"]:
            one.pop("ref", None)
            if one["link"].startswith(LOOK_PAGE) and row.matter in move_ids:
                one["link"] = f"{FORMER_PAGE}{move_ids[row.matter]}"
        row.save(update_fields=["proposal"])


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0007_spend_over_own_lines"),
        ("placement", "0015_reasons_of_moves_in_looks"),
    ]

    operations = [ChangedRows("placement_fleetmovelook", carry_moves, leave_terms_out)]
