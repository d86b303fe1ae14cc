"""A write that carries an Idempotency-Key is done once, and answered the same when repeated."""

import hashlib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.actions.repeats import Repeat, find_stored_answer, keep_answer
from apps.web.rest.limits import caller_of

KEY = re.compile("[!-~]{1,200}")
View = TypeVar("View", bound=APIView)


def body_of(request: Request) -> bytes:
    """Return the body that was sent, which tells two requests to one address apart."""
    return bytes(request.body)


def once(
    forgetting: str | None = None, content_of: Callable[[Request], bytes] = body_of
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Make a `post` answer a repeated Idempotency-Key with its first answer.

    What `forgetting` names is a secret, shown once: it is not kept, and null in a repeated answer.
    A refusal is not kept: the same key may be tried again. One key with two different requests is
    refused (RepeatDiffers); `content_of` is what of them is compared.
    """

    def decorate(post: Callable[..., Response]) -> Callable[..., Response]:
        @wraps(post)
        def answered(view: APIView, request: Request, **kwargs: Any) -> Response:
            repeat = _repeat_of(request, content_of)
            if repeat is None:
                return post(view, request, **kwargs)
            with transaction.atomic():
                stored_answer = find_stored_answer(repeat=repeat, at=timezone.now())
                if stored_answer is not None:
                    return Response(stored_answer.body, status=stored_answer.status)
                response = post(view, request, **kwargs)
                body = dict(response.data)
                if forgetting is not None:
                    body[forgetting] = None
                keep_answer(repeat=repeat, status=response.status_code, body=body)
            return response

        return answered

    return decorate


def _repeat_of(request: Request, content_of: Callable[[Request], bytes]) -> Repeat | None:
    key = request.headers.get("Idempotency-Key")
    caller = caller_of(request)
    if key is None or caller is None:
        return None
    if not KEY.fullmatch(key):
        raise ValidationError({"Idempotency-Key": ["1 to 200 visible ASCII characters"]})
    request_bytes = f"{request.method} {request.get_full_path()}\n".encode() + content_of(request)
    return Repeat(caller=caller, key=key, digest=hashlib.sha256(request_bytes).digest())
