"""The rules that say whose jobs are, over the wire."""

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.economics.hours import HOUR_MS
from apps.economics.ownership import TEXT_MATCHES, Rule
from apps.fleet.queries import clusters
from apps.web.rest.idempotency import once
from apps.web.rest.pages import list_of, paged, parse_page_request, serialize_as
from apps.web.rest.schema import PAGES, REPEAT_KEY
from apps.web.rest.strict import Parameters, parsed
from apps.web.rest.views import RestView
from apps.workloads.actions.rules import add_rule, end_rule, refuse_nonsense
from apps.workloads.api.naming import NameResolver
from apps.workloads.api.shapes import MovesOut, RuleEndIn, RuleIn, RuleOut, RulesAsked
from apps.workloads.queries import (
    OwnerFact,
    RuleFact,
    RulePreview,
    listing,
    preview_end,
    preview_rule,
)


class OwnershipRules(RestView):
    """The list of the rules that say whose jobs are."""

    row = RuleOut

    @extend_schema(
        operation_id="list_ownership_rules",
        parameters=[RulesAsked, *PAGES],
        responses=list_of(RuleOut),
    )
    def get(self, request: Request) -> Response:
        """The rules that give jobs to the caller's teams, past ones too, in order of priority."""
        query, called = RulesAsked.of(request), NameResolver(self.viewer())
        visible_ids = called.viewer.seen_teams
        team_ids = called.team_ids(query.get("team"))
        page = listing.rule_page(
            visible_ids if team_ids is None else team_ids, parse_page_request(request)
        )
        return paged(request, page, lambda row: serialize_rule(row, called))

    @extend_schema(
        operation_id="add_ownership_rule",
        parameters=[REPEAT_KEY],
        request=RuleIn,
        responses={201: RuleOut, 200: RuleOut},
    )
    @once()
    def post(self, request: Request) -> Response:
        """Add a rule; past hours of the jobs it matches are settled again.

        The same rule again is answered 200. `/ownership-rules/preview` says what it would move.
        """
        called = NameResolver(self.viewer())
        rule = parse_rule(parsed(RuleIn, request), called)
        existing_id = listing.rule_like(rule)
        if existing_id is not None:
            return Response(_serialize_rule_by_id(existing_id, called))
        rule_id = add_rule(rule=rule, at=timezone.now())
        return Response(_serialize_rule_by_id(rule_id, called), status=201)


class OwnershipRuleView(RestView):
    """One rule."""

    @extend_schema(operation_id="ownership_rule", responses=RuleOut)
    def get(self, request: Request, rule_id: int) -> Response:
        """A rule by its id; one for another team is as if there were none."""
        Parameters.of(request)
        return Response(_serialize_rule_by_id(rule_id, NameResolver(self.viewer())))


class OwnershipRuleEnd(RestView):
    """The end of a rule."""

    @extend_schema(
        operation_id="end_ownership_rule",
        parameters=[REPEAT_KEY],
        request=RuleEndIn,
        responses=RuleOut,
    )
    @once()
    def post(self, request: Request, rule_id: int) -> Response:
        """The rule counts no more from then on; the same end again changes nothing."""
        body, called = parsed(RuleEndIn, request), NameResolver(self.viewer())
        rule = listing.rule_fact(rule_id)
        if rule is None or rule.ends_at != body["ended_at"]:
            end_rule(rule_id=rule_id, **body, at=timezone.now())
        return Response(_serialize_rule_by_id(rule_id, called))


class OwnershipRulePreview(RestView):
    """The preview of what a rule would move, before anybody keeps it."""

    @extend_schema(operation_id="preview_ownership_rule", request=RuleIn, responses=MovesOut)
    def post(self, request: Request) -> Response:
        """The jobs it matches, and from whom their GPU time would come; nothing is kept."""
        called = NameResolver(self.viewer())
        rule = parse_rule(parsed(RuleIn, request), called)
        refuse_nonsense(rule)
        taker = OwnerFact(rule.rule.team_id, rule.rule.workload_id)
        moved = preview_rule(rule, timezone.now())
        return Response(_serialize_moves(moved, called, lambda giver: (giver, taker)))


class OwnershipRuleEndPreview(RestView):
    """The preview of what the end of a rule would move."""

    @extend_schema(operation_id="preview_ownership_rule_end", request=RuleEndIn, responses=MovesOut)
    def post(self, request: Request, rule_id: int) -> Response:
        """The jobs it would lose, and to whom; nothing is ended."""
        ended_at: datetime = parsed(RuleEndIn, request)["ended_at"]
        rule, called = listing.rule_fact(rule_id), NameResolver(self.viewer())
        if rule is None:
            raise ObjectDoesNotExist(f"there is no rule {rule_id}")
        giver = OwnerFact(rule.rule.team_id, rule.rule.workload_id)
        moved = preview_end(rule, ended_at, timezone.now())
        return Response(_serialize_moves(moved, called, lambda taker: (giver, taker)))


def parse_rule(body: dict[str, Any], called: NameResolver) -> RuleFact:
    """The rule that a body describes; refuses a ValidationError that names the field."""
    team_id = called.team_id(body["team"])
    texts = {name: body[name] for name in (*TEXT_MATCHES, "label", "name")}
    rule = Rule(
        body["priority"],
        team_id,
        workload_id=called.workload_id(team_id, body["workload"]),
        cluster_id=_cluster_id(body["cluster"]),
        **texts,
    )
    return RuleFact(rule, body["starts_at"], body["ends_at"])


def serialize_rule(row: dict[str, Any], called: NameResolver) -> dict[str, Any]:
    """A rule as it is answered."""
    cluster_id = row["cluster_id"]
    fields = {
        **row,
        "team": called.team(row["team_id"]),
        "workload": called.workload(row["workload_id"]),
        "cluster": cluster_id and {"id": cluster_id, "name": row["cluster_name"]},
    }
    return serialize_as(RuleOut, fields)


def _serialize_moves(
    moved: RulePreview,
    called: NameResolver,
    between: Callable[[OwnerFact], tuple[OwnerFact, OwnerFact]],
) -> dict[str, Any]:
    def owner(fact: OwnerFact) -> dict[str, Any]:
        return {"team": called.team(fact.team_id), "workload": called.workload(fact.workload_id)}

    moves = []
    for move in moved.moves:
        giver, taker = between(OwnerFact(move.team_id, move.workload_id))
        hours = _gpu_hours(move.gpu_milliseconds)
        moves.append(
            {"from_owner": owner(giver), "to_owner": owner(taker), "jobs": move.jobs}
            | {"gpu_hours": hours}
        )
    fields = {
        "matched_jobs": moved.matched_jobs,
        "matched_gpu_hours": _gpu_hours(moved.matched_gpu_milliseconds),
        "moves": moves,
    }
    return serialize_as(MovesOut, fields)


def _gpu_hours(milliseconds: Fraction) -> float:
    return round(float(milliseconds / HOUR_MS), 6)


def _serialize_rule_by_id(rule_id: int, called: NameResolver) -> dict[str, Any]:
    row = listing.rule_row(rule_id)
    if row is None or not called.viewer.sees_team(row["team_id"]):
        raise ObjectDoesNotExist(f"there is no rule {rule_id}")
    return serialize_rule(row, called)


def _cluster_id(name: str | None) -> int | None:
    if name is None:
        return None
    for cluster_id, fact in clusters().items():
        if fact.name == name:
            return cluster_id
    raise ValidationError({"cluster": [f"there is no cluster named {name!r}"]})
