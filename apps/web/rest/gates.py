"""Sanity gates of an answer over REST: one shape, whatever was answered."""

from rest_framework import serializers

from apps.economics.gates import Gate
from apps.web.rest.shapes import Answer


class GateOut(Answer[Gate]):
    """A gate that an answer was held against before it is shown, and what is answered instead where it failed."""

    is_passed = serializers.BooleanField(allow_null=True, help_text="null where nobody can tell")
    says = serializers.CharField(help_text="what was found, with its numbers")
    fallback = serializers.CharField(
        allow_blank=True, help_text="what is answered instead; empty where it was passed"
    )
