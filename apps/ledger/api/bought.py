"""Commitments over the wire: amounts as exact texts, pool and owner by name."""

from typing import Any

from rest_framework import serializers

from apps.accounts.queries import teams
from apps.fleet.queries import pools
from apps.pricing import actions
from apps.pricing.queries.commitments import CommitmentFact, EnteredCommitment
from apps.web.rest.money import NamedOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.shapes import Answer, Body
from apps.web.rest.strict import Moment, StrictSerializer, Text, id_named


class CommitmentIn(Body[EnteredCommitment]):
    """Units of machines, or a spend an hour at prices by instance type; bounds are whole seconds."""

    without = ("pool_id", "owner_id")
    pool = Text(required=False, allow_null=True, default=None)
    owner = Text(required=False, allow_null=True, default=None, help_text="the name of a team")

    def made(self, values: dict[str, Any]) -> EnteredCommitment:
        """Return the commitment; refuses a pool or a team that nobody knows, by its field."""
        pool, owner = values.pop("pool"), values.pop("owner")
        return EnteredCommitment(
            **values,
            pool_id=id_named("pool", pool, {fact.name: fact.id for fact in pools().values()}),
            owner_id=id_named("owner", owner, {team.name: team.id for team in teams()}),
        )


class CommitmentEndIn(StrictSerializer):
    """From when it covers nothing and costs nothing."""

    ended_at = Moment()


class CommitmentOut(Answer[CommitmentFact]):
    """A commitment as it stands; `hours` are those of its term as it was bought."""

    without = ("pool_id", "owner_id", "term_ms")
    pool = NamedOut(allow_null=True)
    owner = NamedOut(allow_null=True)


class EnteredCommitmentOut(CommitmentOut):
    """A commitment as it was entered, with remarks."""

    remarks = serializers.ListField(
        child=serializers.CharField(), help_text="its names that no pool and no table has"
    )


def serialize_entered_commitment(
    fact: CommitmentFact, purchase: EnteredCommitment
) -> dict[str, Any]:
    """A commitment as it was entered, with what nobody knows of its names."""
    remarks = actions.unknown_names(actions.as_pools_say(purchase))
    return serialize_commitment(fact) | {"remarks": list(remarks)}


def serialize_commitment(fact: CommitmentFact) -> dict[str, Any]:
    """A commitment as it is answered."""
    pool = owner = None
    if fact.pool_id is not None:
        pool = {"id": fact.pool_id, "name": pools()[fact.pool_id].name}
    if fact.owner_id is not None:
        names = {team.id: team.name for team in teams()}
        owner = {"id": fact.owner_id, "name": names[fact.owner_id]}
    return serialize_as(CommitmentOut, fact, pool=pool, owner=owner)
