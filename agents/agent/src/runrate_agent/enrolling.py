"""A one-time token exchanged for the agent's own, which is kept where the settings say."""

import http.client
import json
import os
import ssl
from collections.abc import Callable
from pathlib import Path

from runrate_agent.settings import Settings
from runrate_agent.uplink import NotRunrate, Server, server_at

PATH = "/api/v1/enrolments"
TIMEOUT_SECONDS = 30
LONGEST = 1 << 20


class EnrolmentRefused(Exception):
    """The server does not take the invitation, or the token cannot be kept; says why."""


def enrol(settings: Settings, invitation: str, version: str) -> str:
    """Enrol this node; its name at the server. Refuses EnrolmentRefused and NotRunrate.

    The place for the token is opened first: an invitation is good once, and must not be spent on a
    token that nobody can write down.
    """
    path = Path(settings.server.token_file)
    keep = _opened(path)
    told = {"token": invitation, "source": settings.source.kind, "version": version}
    status, answer = _posted(server_at(settings.server.url), settings, told)
    if status != 201:
        said = answer.get("detail") or answer.get("title") or f"status {status}"
        raise EnrolmentRefused(f"{settings.server.url} refuses the invitation: {said}")
    keep(str(answer["token"]))
    return str(answer["node"])


def _opened(path: Path) -> Callable[[str], None]:
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as refused:
        raise EnrolmentRefused(f"cannot write {path}: {refused}") from refused

    def keep(token: str) -> None:
        with os.fdopen(descriptor, "w") as file:
            file.write(token + "\n")
        draft.replace(path)

    return keep


def _posted(server: Server, settings: Settings, told: object) -> tuple[int, dict[str, object]]:
    near = server_at(settings.server.proxy) if settings.server.proxy else server
    if server.scheme == "https":
        context = ssl.create_default_context(cafile=settings.server.ca_file or None)
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            near.host, near.port, timeout=TIMEOUT_SECONDS, context=context
        )
        if settings.server.proxy:
            connection.set_tunnel(server.host, server.port)
    else:
        connection = http.client.HTTPConnection(near.host, near.port, timeout=TIMEOUT_SECONDS)
    whole = settings.server.proxy and server.scheme == "http"
    try:
        connection.request(
            "POST",
            (server.url if whole else server.prefix) + PATH,
            json.dumps(told),
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        answer = connection.getresponse()
        document = json.loads(answer.read(LONGEST))
    except ValueError as other:
        raise NotRunrate(f"{server.url} does not answer as a Runrate server") from other
    except (OSError, http.client.HTTPException) as away:
        raise EnrolmentRefused(f"{server.url}: {away}") from away
    finally:
        connection.close()
    return answer.status, document if isinstance(document, dict) else {}
