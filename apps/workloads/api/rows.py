"""Bodies of many rows: what is refused of the whole, and how a row is answered that is not taken."""

from typing import Any

from rest_framework import serializers


class TooManyRows(ValueError):
    """More rows than one transaction should hold."""

    def __init__(self, count: int, noun: str, most: int) -> None:
        super().__init__(f"{count} {noun} are more than {most}")


class RowFault(serializers.Serializer[Any]):
    """Why a row was not taken, by its field."""

    field = serializers.CharField()
    row = serializers.IntegerField()
    message = serializers.CharField()


class RowsTakenOut(serializers.Serializer[Any]):
    """How many rows of a body were taken, and how many changed something."""

    accepted = serializers.IntegerField()
    changed = serializers.IntegerField()
