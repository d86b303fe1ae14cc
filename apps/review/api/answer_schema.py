"""Schema of the operations that answer a matter: a body that says why, and the matter as it is then."""

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from apps.web.rest.schema import REPEAT_KEY
from apps.web.rest.strict import StrictSerializer

MatterAnswer = TypeVar("MatterAnswer", bound=Callable[..., Any])


def answer_schema(
    operation_id: str,
    body: type[StrictSerializer],
    matter: type[serializers.Serializer[Any]],
) -> Callable[[MatterAnswer], MatterAnswer]:
    """Of the operation that takes `body` and answers `matter`; sent again under its key it changes nothing."""
    return extend_schema(
        operation_id=operation_id, parameters=[REPEAT_KEY], request=body, responses={200: matter}
    )
