"""Figures over the wire: exact amounts beside a currency, hours, shares, names; null is unknown."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rest_framework import serializers

from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS

DIGITS = 6


def money_of(micros: int | None, currency: str) -> dict[str, str] | None:
    """An amount as REST answers it; None where it is not known."""
    if micros is None:
        return None
    units, part = divmod(abs(micros), MICROS)
    return {"amount": f"{'-' if micros < 0 else ''}{units}.{part:06d}", "currency": currency}


def hours_of(milliseconds: int) -> float:
    """Hours to the sixth decimal."""
    return round(milliseconds / HOUR_MS, DIGITS)


def rounded_ratio(ratio: float | Fraction | None) -> float | None:
    """A share to the sixth decimal; None where it is not known."""
    return None if ratio is None else round(float(ratio), DIGITS)


class MoneyOut(serializers.Serializer[Any]):
    """An exact amount, such as {"amount": "41302.170000", "currency": "USD"}; null where unknown."""

    amount = serializers.CharField()
    currency = serializers.CharField()

    def to_representation(self, instance: Any) -> Any:
        """Of micro-units (rounded to whole ones) in the answer's currency, or of such a mapping."""
        if isinstance(instance, Mapping):
            return super().to_representation(instance)
        return money_of(round(instance), self.context.get("currency", ""))


class DecimalMoneyOut(MoneyOut):
    """An exact amount of a decimal in whole units, with the places that it has."""

    def to_representation(self, instance: Any) -> Any:
        """In the answer's currency."""
        return {"amount": f"{instance:f}", "currency": self.context.get("currency", "")}


class HoursOut(serializers.FloatField):
    """Hours, of milliseconds."""

    def to_representation(self, value: Any) -> Any:
        """To the sixth decimal."""
        return hours_of(value)


class RatioOut(serializers.FloatField):
    """A share or another figure without a unit."""

    def to_representation(self, value: Any) -> Any:
        """To the sixth decimal."""
        return rounded_ratio(value)


class ExactOut(serializers.CharField):
    """An exact number as a text, with all its decimals."""

    def to_representation(self, value: Any) -> str:
        """Never with an exponent."""
        return f"{value:f}"


class KeyOut(serializers.CharField):
    """A member of an enumeration of numbers, by its name in small letters."""

    def to_representation(self, value: Any) -> str:
        """Such as data_wait."""
        return str(value.name.lower())


class NamedOut(serializers.Serializer[Any]):
    """A thing told by its id and its name; "another team" has no id."""

    # With the source `*` it is what a value has as `<name>_id` and `<name>`; null without an id.

    id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()

    def to_representation(self, instance: Any) -> Any:
        """The parts of a thing, or those of a value that has them under its name."""
        if self.source != "*":
            return super().to_representation(instance)
        name = str(self.field_name)
        part_id = getattr(instance, f"{name}_id")
        return None if part_id is None else {"id": part_id, "name": getattr(instance, name)}


def named_parts(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return what `row` has as `<name>_id` and `<name>_name`, as NamedOut answers it; None of none."""
    return {
        name: None
        if row[f"{name}_id"] is None
        else {"id": row[f"{name}_id"], "name": row[f"{name}_name"]}
        for name in names
    }
