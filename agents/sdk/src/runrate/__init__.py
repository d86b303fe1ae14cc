"""Runrate's SDK: a run says what it did, and never waits for anybody to hear it; a job asks where it is to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runrate.running import Run, run

if TYPE_CHECKING:
    from runrate.client import AskRefused, Client, NotRunrate, RunrateError, ServerAway

__all__ = ["AskRefused", "Client", "NotRunrate", "Run", "RunrateError", "ServerAway", "run"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """What asks the server is imported when it is used: a training that only reports does without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runrate import client

    return getattr(client, name)
