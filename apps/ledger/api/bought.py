"""Commitments over the wire: amounts as exact texts, pool and owner by name."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.accounts.queries import teams
from apps.fleet.queries import pools
from apps.pricing import actions
from apps.pricing.queries.commitments import CommitmentFact
from apps.web.rest.money import ExactOut, NamedOut
from apps.web.rest.pages import serialize_as
from apps.web.rest.strict import Moment, OptionalText, StrictInteger, StrictSerializer, Text

UNITS = ("node", "gpu")
KINDS = ("capacity_block", "reserved", "committed_use", "savings_plan")
AMOUNT = r"^[0-9]{1,15}(\.[0-9]{1,9})?$"
CODE = "^[A-Z]{3}$"
LONGEST_AMOUNT = 25
AMOUNTS = ("spend", "upfront", "hourly")


class Pattern(Text):
    """A JSON string of one form."""

    def __init__(self, regex: str, **options: Any) -> None:
        super().__init__(**options)
        self.validators.append(RegexValidator(regex, "this does not have the form " + regex))


def _amount_field() -> Pattern:
    return Pattern(AMOUNT, max_length=LONGEST_AMOUNT, required=False, default="0")


class CommitmentIn(StrictSerializer):
    """Units of machines, or a spend an hour at prices by instance type; bounds are whole seconds."""

    name = Text()
    kind = serializers.ChoiceField(choices=KINDS)
    provider = OptionalText()
    region = OptionalText()
    instance_type = OptionalText()
    gpu_model = OptionalText()
    pool = Text(required=False, allow_null=True, default=None)
    units = StrictInteger(required=False, default=0, min_value=0, max_value=2**31 - 1)
    unit = serializers.ChoiceField(choices=UNITS, default="node")
    spend = _amount_field()
    prices = serializers.DictField(
        child=Pattern(AMOUNT, max_length=LONGEST_AMOUNT), required=False, default=dict
    )
    upfront = _amount_field()
    hourly = _amount_field()
    currency = Pattern(CODE, max_length=3)
    starts_at = Moment()
    ends_at = Moment()
    owner = Text(required=False, allow_null=True, default=None, help_text="the name of a team")
    external_id = OptionalText()
    platform = OptionalText(
        help_text="what runs on machines that it covers, as its cloud spells it; none: any, "
        "of AWS's reservations Linux"
    )
    tenancy = OptionalText(help_text="default, dedicated or host; as platform")
    account = OptionalText(
        help_text="account, project, or subscription and resource group (sub/group) that it is of"
    )
    is_shared = serializers.BooleanField(
        default=True, help_text="whether it covers use of other accounts too"
    )
    # DRF's metaclass takes declared fields off the class, so nothing is overridden.
    source = OptionalText()  # type: ignore[assignment]


class CommitmentEndIn(StrictSerializer):
    """From when it covers nothing and costs nothing."""

    ended_at = Moment()


class CommitmentOut(serializers.Serializer[Any]):
    """A commitment as it stands; `hours` are those of its term as it was bought."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    provider = serializers.CharField()
    region = serializers.CharField()
    instance_type = serializers.CharField()
    gpu_model = serializers.CharField()
    pool = NamedOut(allow_null=True)
    units = serializers.IntegerField()
    unit = serializers.ChoiceField(choices=UNITS)
    spend = ExactOut()
    prices = serializers.DictField(child=ExactOut())
    upfront = ExactOut()
    hourly = ExactOut()
    currency = serializers.CharField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    hours = serializers.IntegerField()
    ended_at = serializers.DateTimeField(allow_null=True)
    owner = NamedOut(allow_null=True)
    external_id = serializers.CharField()
    platform = serializers.CharField()
    tenancy = serializers.CharField()
    account = serializers.CharField()
    is_shared = serializers.BooleanField()
    source = serializers.CharField()  # type: ignore[assignment]  # see CommitmentIn


class EnteredCommitmentOut(CommitmentOut):
    """A commitment as it was entered, with remarks."""

    remarks = serializers.ListField(
        child=serializers.CharField(), help_text="its names that no pool and no table has"
    )


def new_commitment(data: Mapping[str, Any]) -> actions.NewCommitment:
    """Return the commitment that was asked for; refuses a pool or a team that nobody knows, by its field."""
    fields = dict(data)
    pool, owner = fields.pop("pool"), fields.pop("owner")
    fields |= {name: Decimal(fields[name]) for name in AMOUNTS}
    prices = {name: Decimal(amount) for name, amount in fields.pop("prices").items()}
    return actions.NewCommitment(
        **fields,
        prices=prices,
        pool_id=_id_named(
            "pool", pool, {candidate.name: candidate.id for candidate in pools().values()}
        ),
        owner_id=_id_named("owner", owner, {team.name: team.id for team in teams()}),
    )


def serialize_entered_commitment(
    fact: CommitmentFact, purchase: actions.NewCommitment
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


def _id_named(field: str, name: str | None, ids_by_name: Mapping[str, int]) -> int | None:
    if name is None:
        return None
    if name not in ids_by_name:
        raise ValidationError({field: [f"there is none of the name {name!r}"]})
    return ids_by_name[name]
