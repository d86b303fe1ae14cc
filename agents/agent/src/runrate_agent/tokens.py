"""The token file: one token for everything, or one for each node and each cluster's jobs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runrate_agent.compat import SLOTS

CREDENTIALS = "CREDENTIALS_DIRECTORY"
"""Where systemd puts what LoadCredential= names, for the unit's user alone."""
NO_CREDENTIAL = "-"
"""As our units hand over a token whose file was not there (SetCredential=)."""


class TokenFileUnreadable(Exception):
    """The token file is absent, empty, or not in a form this agent knows."""


@dataclass(frozen=True, **SLOTS)
class Tokens:
    """`for_all` answers wherever there is no token of its own."""

    for_all: str | None
    by_node: Mapping[str, str]
    by_cluster: Mapping[str, str]

    def of_node(self, name: str) -> str:
        return self._found(self.by_node.get(name), f"node {name}")

    def of_cluster(self, name: str) -> str:
        return self._found(self.by_cluster.get(name), f"the jobs of cluster {name}")

    def _found(self, token: str | None, whose: str) -> str:
        token = token or self.for_all
        if token is None:
            raise TokenFileUnreadable(f"the token file has no token for {whose}")
        return token


def token_in(path: Path) -> str:
    """The one token of a file."""
    return _token(_text_of(path), str(path))


def tokens_in(path: Path, clusters: Mapping[str, str]) -> Tokens:
    """A line with a token, or JSON: {"jobs": token or {cluster: token}, "nodes": {node: token}}."""
    text = _text_of(path)
    if not text.startswith("{"):
        return Tokens(for_all=_token(text, str(path)), by_node={}, by_cluster={})
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise TokenFileUnreadable(f"the token file {path} is not JSON: {error}") from error
    jobs = values.get("jobs", {})
    by_cluster = dict.fromkeys(clusters, jobs) if isinstance(jobs, str) else jobs
    return Tokens(
        for_all=None,
        by_node=_checked(values.get("nodes", {}), "nodes"),
        by_cluster=_checked(by_cluster, "jobs"),
    )


def credential_of(path: Path) -> Path | None:
    """Where systemd would hand this file over, by its name; None outside of such a unit."""
    folder = os.environ.get(CREDENTIALS)
    return Path(folder) / path.name if folder else None


def _text_of(path: Path) -> str:
    """What systemd handed over, else the file itself."""
    handed, about = _handed_over(path)
    if handed:
        return handed
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TokenFileUnreadable(f"cannot read the token file {path}: {error}{about}") from error
    if not text:
        raise TokenFileUnreadable(f"the token file {path} is empty")
    return text


def _handed_over(path: Path) -> tuple[str, str]:
    """The credential of this file's name; else what to say of there being none."""
    credential = credential_of(path)
    if credential is None:
        return "", ""
    try:
        text = credential.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return "", f"; this unit has no LoadCredential={path.name}:{path}"
    except (OSError, UnicodeDecodeError) as error:
        return "", f"; nor systemd's copy: {error}"
    if text in ("", NO_CREDENTIAL):
        return "", "; it was not there when systemd started this unit: write it, then restart"
    return text, ""


def _checked(tokens: object, key: str) -> dict[str, str]:
    if not isinstance(tokens, dict):
        raise TokenFileUnreadable(f"the token file's {key!r} is not a table of tokens")
    return {name: _token(token, f"{key}.{name}") for name, token in tokens.items()}


def _token(token: object, place: str) -> str:
    """A token goes into a header: anything but visible ASCII would break the request."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or " " in token:
        raise TokenFileUnreadable(f"{place}: expected one token on one line")
    return token
