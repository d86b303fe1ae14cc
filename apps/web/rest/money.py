"""Figures over the wire: exact amounts beside a currency, hours, shares, names; null is unknown."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from rest_framework import serializers

from apps.economics.hours import HOUR_MS
from apps.economics.money import MICROS
from apps.web.rest.fast_serializers import Teller, mapping_teller

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
        return self.teller()(instance)

    def teller(self) -> Teller:
        """With the currency looked up once."""
        currency: str = self.context.get("currency", "")
        serialize = super().to_representation

        def tell(amount: Any) -> Any:
            # Asking of every amount whether it is a mapping takes as long as telling it.
            if type(amount) is not int:
                if isinstance(amount, Mapping):
                    return serialize(amount)
                amount = round(amount)
            return money_of(amount, currency)

        return tell


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

    def teller(self) -> Teller:
        """Return the function that rounds a ratio to the sixth decimal."""
        return rounded_ratio


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

    def teller(self) -> Teller:
        """Return what tells the parts of a thing, or those of a value that has them under its name."""
        if self.source != "*":
            return mapping_teller(self)
        name, id_name = str(self.field_name), f"{self.field_name}_id"

        def tell(value: Any) -> dict[str, Any] | None:
            part_id = getattr(value, id_name)
            return None if part_id is None else {"id": part_id, "name": getattr(value, name)}

        return tell


def named_parts(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return what `row` has as `<name>_id` and `<name>_name`, as NamedOut answers it; None of none."""
    return {
        name: None
        if row[f"{name}_id"] is None
        else {"id": row[f"{name}_id"], "name": row[f"{name}_name"]}
        for name in names
    }
