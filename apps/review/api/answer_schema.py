"""What the schema says of an operation that answers a matter: a body that says why, and the matter as it is then."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.web.rest.examples import answered, sent
from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.strict import Strict

MatterAnswer = TypeVar("MatterAnswer", bound=Callable[..., Any])
Example = tuple[str, Mapping[str, Any]]
"""What an example is called, and its body."""


def answer_schema(
    operation_id: str,
    body: type[Strict],
    sends: Example,
    matter: type[serializers.Serializer[Any]],
    answers: Example,
) -> Callable[[MatterAnswer], MatterAnswer]:
    """Of the operation that takes `body` and answers `matter`, each with its example; sent again under its key it changes nothing."""
    return extend_schema(
        operation_id=operation_id,
        parameters=[REPEAT_KEY],
        request=body,
        responses={200: matter},
        examples=[sent(*sends), answered(*answers)],
    )
