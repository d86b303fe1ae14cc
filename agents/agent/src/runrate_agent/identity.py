"""Which token an agent comes with: one that somebody gave it, or its own, got with a join token."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from runrate_agent.enrolling import (
    Enrolled,
    EnrolmentRefused,
    machine_id,
    opened_for_token,
    trade,
)
from runrate_agent.settings import Settings
from runrate_agent.tokens import TokenFileUnreadable, token_in

KEPT_NAME = "identity.json"
SHORT_LIFE_SECONDS = 600.0
"""A token that the server knows no more so soon after it was got was ended by somebody."""
RIVAL_SECONDS = 3_600.0
SHORT_LIVES = 2
"""So many of them within RIVAL_SECONDS are another agent's doing, not a person's."""


@dataclass
class Identity:
    """This machine's own token, kept in the state folder under the name that it was given for.

    Asked by the one thread that sends. A folder that was copied from another machine, or a name
    that has changed, is of no use: then the machine joins for itself.
    """

    settings: Settings
    node: str
    version: str
    clock: Callable[[], float] = time.monotonic
    _joined_at: float | None = None
    _short_lives: list[float] = field(default_factory=list)
    _enrolled: Enrolled | None = None

    @property
    def path(self) -> Path:
        """Where the token is kept."""
        return Path(self.settings.spool.folder) / KEPT_NAME

    def token(self) -> str:
        """The token; joins where there is none yet.

        Refuses EnrolmentRefused, ServerUnreachable and NotRunrate.
        """
        if self._enrolled is None:
            self._enrolled = self.kept() or self._joined()
        return self._enrolled.token

    def may_tell(self, scope: str) -> bool:
        """Whether the token is for this; joins as `token` does, and refuses as it does."""
        self.token()
        return self._enrolled is not None and scope in self._enrolled.scopes

    @property
    def rival(self) -> str:
        """That another agent joins as this node, in words; "" while nothing speaks for it."""
        since = self.clock() - RIVAL_SECONDS
        if sum(1 for at in self._short_lives if at >= since) < SHORT_LIVES:
            return ""
        return (
            f"another agent joins as {self.node} and ends this one's token each time: two agents "
            "run on this node (a unit and a DaemonSet?), or two machines bear its name; stop one"
        )

    def forget(self) -> None:
        """The server knows the token no more: the next one is got anew."""
        if self._joined_at is not None and self.clock() - self._joined_at < SHORT_LIFE_SECONDS:
            self._short_lives = [*self._short_lives[-SHORT_LIVES:], self.clock()]
        self._joined_at = None
        self._enrolled = None
        try:
            self.path.unlink(missing_ok=True)
        except OSError:
            return

    def kept(self) -> Enrolled | None:
        """What was kept for this name; None where nothing is, or what is there cannot be read."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
            if told["named"] != self.node:
                return None
            return Enrolled(str(told["token"]), str(told["node"]), tuple(told["scopes"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _joined(self) -> Enrolled:
        server = self.settings.server
        try:
            secret = token_in(Path(server.join_token_file))
        except TokenFileUnreadable as unreadable:
            raise EnrolmentRefused(f"join token: {unreadable}") from unreadable
        enrolled = trade(
            server,
            {
                "token": secret,
                "source": self.settings.source.kind,
                "version": self.version,
                "node": self.node,
                "machine": machine_id(Path(self.settings.holders.root)),
            },
        )
        self._joined_at = self.clock()
        self._keep(enrolled)
        return enrolled

    def _keep(self, enrolled: Enrolled) -> None:
        told = {"named": self.node, "node": enrolled.node, "token": enrolled.token}
        try:
            keep = opened_for_token(self.path)
            keep(json.dumps({**told, "scopes": list(enrolled.scopes)}))
        except (EnrolmentRefused, OSError):
            # Memory has it: the machine joins again when this process ends.
            return
