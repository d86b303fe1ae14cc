"""The two ways in which a batch reaches the service."""

import io
import json
from collections.abc import Callable
from typing import Any

from django.test import Client

from tests.apps.telemetry.sending import URL, Sending

Door = Callable[..., tuple[int, dict[str, str], Any]]


def through_django(body: bytes, **environ: str) -> tuple[int, dict[str, str], Any]:
    answer = Client(raise_request_exception=False).generic("POST", URL, body, **environ)
    return answer.status_code, dict(answer.headers), answer.json()


def through_the_front_door(body: bytes, **environ: str) -> tuple[int, dict[str, str], Any]:
    from controlplane.wsgi import application

    said: list[Any] = []
    given = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": URL,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
    }
    answer = b"".join(application(given | environ, lambda *heard: said.extend(heard)))
    return int(said[0].split()[0]), dict(said[1]), json.loads(answer)


def with_token(secret: str) -> dict[str, str]:
    return {"HTTP_AUTHORIZATION": f"Bearer {secret}", "CONTENT_TYPE": "application/json"}


def arriving(sending: Sending, sent: dict[str, Any] | bytes) -> dict[str, Any]:
    """A delivery as the server hands it on."""
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    parts = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
    return with_token(sending.secret) | parts
