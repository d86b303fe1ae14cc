"""A one-time token, or a join token, exchanged for the agent's own."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runrate_agent.compat import SLOTS
from runrate_agent.settings import ServerSettings, Settings
from runrate_agent.uplink import (
    PASSING_STATUSES,
    NotRunrate,
    Server,
    ServerUnreachable,
    TokenRefused,
    server_at,
)

PATH = "/api/v1/enrolments"
JOIN_PREFIX = "rrj_"
BOOT_ID = "proc/sys/kernel/random/boot_id"
TIMEOUT_SECONDS = 30
LONGEST = 1 << 20


class EnrolmentRefused(TokenRefused):
    """The server does not take the invitation, or the token cannot be kept; says why."""


@dataclass(frozen=True, **SLOTS)
class Enrolled:
    """A token of this machine's own, the name of its node at the server, and what it may do."""

    token: str = field(repr=False)
    node: str
    scopes: tuple[str, ...]


def enrol(settings: Settings, secret: str, node: str, version: str) -> str:
    """Enrol this machine; its node's name at the server. Refuses as `trade` does.

    The place for the token is opened first: an invitation is good once, and must not be spent on a
    token that nobody can write down. `node` is the machine's name, of which a join token is told.
    """
    path = Path(settings.server.token_file)
    keep = opened_for_token(path)
    told = {"token": secret, "source": settings.source.kind, "version": version}
    if secret.startswith(JOIN_PREFIX):
        told |= {"node": node, "machine": machine_id(Path(settings.holders.root))}
    enrolled = trade(settings.server, told)
    keep(enrolled.token + "\n")
    return enrolled.node


def trade(asked: ServerSettings, told: Mapping[str, str]) -> Enrolled:
    """The server's answer to an enrolment. Refuses EnrolmentRefused, ServerUnreachable, NotRunrate."""
    status, answer = _posted(server_at(asked.url), asked, told)
    if status in PASSING_STATUSES:
        raise ServerUnreachable(f"{asked.url} answers {status}")
    if status != 201:
        said = answer.get("detail") or answer.get("title") or f"status {status}"
        raise EnrolmentRefused(f"{asked.url} refuses the enrolment: {said}")
    scopes = answer.get("scopes")
    return Enrolled(
        token=str(answer["token"]),
        node=str(answer["node"]),
        scopes=tuple(map(str, scopes)) if isinstance(scopes, list) else ("ingest",),
    )


def machine_id(root: Path) -> str:
    """What tells this machine from another of its name, until it boots again; "" where unknown."""
    try:
        return (root / BOOT_ID).read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def opened_for_token(path: Path) -> Callable[[str], None]:
    """Writes a text into a file that only its owner reads; refuses EnrolmentRefused beforehand."""
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as refused:
        raise EnrolmentRefused(f"cannot write {path}: {refused}") from refused

    def keep(text: str) -> None:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        draft.replace(path)

    return keep


def _posted(server: Server, asked: ServerSettings, told: object) -> tuple[int, dict[str, object]]:
    near = server_at(asked.proxy) if asked.proxy else server
    if server.scheme == "https":
        context = ssl.create_default_context(cafile=asked.ca_file or None)
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            near.host, near.port, timeout=TIMEOUT_SECONDS, context=context
        )
        if asked.proxy:
            connection.set_tunnel(server.host, server.port)
    else:
        connection = http.client.HTTPConnection(near.host, near.port, timeout=TIMEOUT_SECONDS)
    whole = asked.proxy and server.scheme == "http"
    try:
        connection.request(
            "POST",
            (server.url if whole else server.prefix) + PATH,
            json.dumps(told),
            {"Content-Type": "application/json", "Accept": "application/json"},
        )
        answer = connection.getresponse()
        body = answer.read(LONGEST)
    except (OSError, http.client.HTTPException) as away:
        raise ServerUnreachable(f"{server.url}: {away}") from away
    finally:
        connection.close()
    try:
        document = json.loads(body)
    except ValueError as other:
        if answer.status in PASSING_STATUSES:
            return answer.status, {}
        raise NotRunrate(f"{server.url} does not answer as a Runrate server") from other
    return answer.status, document if isinstance(document, dict) else {}
