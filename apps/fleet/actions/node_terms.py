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
from apps.providers.reading import SeenMachine


class TermsNotUnderstood(Refusal):
    """A platform or a tenancy that no cloud has."""


@logged_change(count=answered)
@transaction.atomic
def tell_node_terms(*, told: Mapping[int, NodeTermsFact], told_by: str, at: datetime) -> int:
    """Keep what one says of nodes, in place of what it said before; answers of how many that changes.

    The hours that they lived are charged again where anything was bought that may cover them: of the
    rest nothing moves, and closed months would wait for corrections of nothing. Refuses
    TermsNotUnderstood.
    """
    said = {node_id: _understood(terms) for node_id, terms in told.items()}
    lives = {
        node.id: node.period
        for node in Node.objects.select_for_update(no_key=True).filter(id__in=said).order_by("id")
    }
    before = node_terms(list(lives))
    NodeTerms.objects.bulk_create(
        [
            NodeTerms(node_id=node_id, told_by=ToldBy(told_by), told_at=at, **asdict(said[node_id]))
            for node_id in lives
        ],
        update_conflicts=True,
        unique_fields=["node", "told_by"],
        update_fields=[*NAMES, "told_at"],
    )
    after = node_terms(list(lives))
    changed = [
        node_id
        for node_id in lives
        if before.get(node_id, NodeTermsFact()) != after.get(node_id, NodeTermsFact())
    ]
    spans = [(lives[each].lower, min(lives[each].upper or at, at)) for each in changed]
    lived = [span for span in spans if span[0] < span[1]]
    if lived:
        first, last = min(begins for begins, _ in lived), max(ends for _, ends in lived)
        for starts_at, ends_at in _spans_bought_ahead(first, last):
            mark_span(pass_=Pass.CHARGE, units=[ORGANISATION], starts_at=starts_at, ends_at=ends_at)
    return len(changed)


def _spans_bought_ahead(starts_at: datetime, ends_at: datetime) -> list[tuple[datetime, datetime]]:
    """When anything was bought that may cover nodes, as apps that know say in their registration."""
    return [
        span
        for app in apps.get_app_configs()
        if (asked := getattr(app, "spans_bought_ahead", ""))
        for span in import_string(asked)(starts_at, ends_at)
    ]


def correct_node_terms(*, node_id: int, at: datetime, **said: str) -> None:
    """A person says some of it; an empty text takes back what a person said. Refuses TermsNotUnderstood."""
    held = NodeTerms.objects.filter(node_id=node_id, told_by=ToldBy.PERSON).values(*NAMES).first()
    terms = replace(NodeTermsFact(**(held or {})), **said)
    tell_node_terms(told={node_id: terms}, told_by=ToldBy.PERSON, at=at)


@logged_change(count=items_of("machines"))
def tell_machine_terms(*, provider: str, machines: Sequence[SeenMachine], at: datetime) -> None:
    """What a cloud tells of the machines that are nodes of ours."""
    told = {
        node_id: NodeTermsFact(
            platform=platform_of(machine.platform),
            tenancy=tenancy_of(machine.tenancy),
            account=machine.account,
            reservation=machine.reservation,
        )
        for machine, node_id in nodes_of_machines(provider, machines, at)
    }
    if told:
        tell_node_terms(told=told, told_by=ToldBy.CLOUD, at=at)


def _understood(terms: NodeTermsFact) -> NodeTermsFact:
    platform, tenancy = platform_of(terms.platform), tenancy_of(terms.tenancy)
    for name, said, kept, known in (
        ("platform", terms.platform, platform, PLATFORMS),
        ("tenancy", terms.tenancy, tenancy, TENANCIES),
    ):
        if said.strip() and not kept:
            raise TermsNotUnderstood(name, f"{said!r} is none of {', '.join(known)}")
    return NodeTermsFact(
        platform, tenancy, terms.account.strip(), reservation_of(terms.reservation)
    )
