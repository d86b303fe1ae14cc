"""Amounts over the wire: exact text beside a currency, never a float."""

from typing import Any

from rest_framework import serializers


class MoneyOut(serializers.Serializer[Any]):
    """An exact amount, such as {"amount": "41302.170000", "currency": "USD"}; null where unknown."""

    amount = serializers.CharField()
    currency = serializers.CharField()


class NamedOut(serializers.Serializer[Any]):
    """A thing told by its id and its name; "another team" has no id."""

    id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()
