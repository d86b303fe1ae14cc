"""How nodes were bought: told by a person, read of their cloud, or off their bill."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from django.apps import apps
from django.db import transaction
from django.utils.module_loading import import_string

from apps.economics.refusal import Refusal
from apps.economics.use_terms import (
    PLATFORMS,
    TENANCIES,
    platform_of,
    reservation_of,
    tenancy_of,
)
from apps.fleet.models import Node, NodeTerms, ToldBy
from apps.fleet.queries.cloud_machines import nodes_of_machines
from apps.fleet.queries.node_terms import NAMES, NodeTermsFact, node_terms
from apps.logs.changes import answered, items_of, logged_change
from apps.marks.actions import ORGANISATION, mark_span
from apps.marks.queries import Pass
from apps.providers.reading import ObservedMachine


class TermsNotUnderstood(Refusal):
    """A platform or a tenancy that no cloud has."""


@logged_change(count=answered)
@transaction.atomic
def record_node_terms(
    *, reported_terms: Mapping[int, NodeTermsFact], told_by: str, at: datetime
) -> int:
    """Keep what one says of nodes, in place of what it said before; answers of how many that changes.

    The hours that they lived are charged again where anything was bought that may cover them: of the
    rest nothing moves, and closed months would wait for corrections of nothing. Refuses
    TermsNotUnderstood.
    """
    terms_by_node = {node_id: _understood(terms) for node_id, terms in reported_terms.items()}
    periods = {
        node.id: node.period
        for node in Node.objects.select_for_update(no_key=True)
        .filter(id__in=terms_by_node)
        .order_by("id")
    }
    before = node_terms(list(periods))
    NodeTerms.objects.bulk_create(
        [
            NodeTerms(
                node_id=node_id,
                told_by=ToldBy(told_by),
                told_at=at,
                **asdict(terms_by_node[node_id]),
            )
            for node_id in periods
        ],
        update_conflicts=True,
        unique_fields=["node", "told_by"],
        update_fields=[*NAMES, "told_at"],
    )
    after = node_terms(list(periods))
    changed = [
        node_id
        for node_id in periods
        if before.get(node_id, NodeTermsFact()) != after.get(node_id, NodeTermsFact())
    ]
    spans = [(periods[node_id].lower, min(periods[node_id].upper or at, at)) for node_id in changed]
    past_spans = [span for span in spans if span[0] < span[1]]
    if past_spans:
        first, last = min(begins for begins, _ in past_spans), max(ends for _, ends in past_spans)
        for starts_at, ends_at in _spans_bought_ahead(first, last):
            mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=ends_at)
    return len(changed)


def _spans_bought_ahead(starts_at: datetime, ends_at: datetime) -> list[tuple[datetime, datetime]]:
    """When anything was bought that may cover nodes, as apps that know say in their registration."""
    return [
        span
        for app in apps.get_app_configs()
        if (import_path := getattr(app, "spans_bought_ahead", ""))
        for span in import_string(import_path)(starts_at, ends_at)
    ]


def correct_node_terms(*, node_id: int, at: datetime, **changes: str) -> None:
    """A person says some of it; an empty text takes back what a person said. Refuses TermsNotUnderstood."""
    stored_terms = (
        NodeTerms.objects.filter(node_id=node_id, told_by=ToldBy.PERSON).values(*NAMES).first()
    )
    terms = replace(NodeTermsFact(**(stored_terms or {})), **changes)
    record_node_terms(reported_terms={node_id: terms}, told_by=ToldBy.PERSON, at=at)


@logged_change(count=items_of("machines"))
def record_machine_terms(
    *, provider: str, machines: Sequence[ObservedMachine], at: datetime
) -> None:
    """Record the terms that a cloud tells of the machines that are nodes of ours."""
    terms_by_node = {
        node_id: NodeTermsFact(
            platform=platform_of(machine.platform),
            tenancy=tenancy_of(machine.tenancy),
            account=machine.account,
            reservation=machine.reservation,
        )
        for machine, node_id in nodes_of_machines(provider, machines, at)
    }
    if terms_by_node:
        record_node_terms(reported_terms=terms_by_node, told_by=ToldBy.CLOUD, at=at)


def _understood(terms: NodeTermsFact) -> NodeTermsFact:
    platform, tenancy = platform_of(terms.platform), tenancy_of(terms.tenancy)
    for name, text, canonical, choices in (
        ("platform", terms.platform, platform, PLATFORMS),
        ("tenancy", terms.tenancy, tenancy, TENANCIES),
    ):
        if text.strip() and not canonical:
            raise TermsNotUnderstood(name, f"{text!r} is none of {', '.join(choices)}")
    return NodeTermsFact(
        platform, tenancy, terms.account.strip(), reservation_of(terms.reservation)
    )
