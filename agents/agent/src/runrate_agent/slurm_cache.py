"""The file that a Slurm controller's job_submit.lua decides by: asked for, written whole, kept.

A line is tab-separated and begins with what it is; an empty field is not known, or anything. The last
line counts those before it, so that a file that was cut off is told from a whole one. Its times are of
this machine's clock, which is the controller's: the server's own may differ.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from runrate_agent.compat import SLOTS
from runrate_agent.running import say
from runrate_agent.settings import Settings, SettingsRefused, split_pair
from runrate_agent.tokens import token_in
from runrate_agent.uplink import (
    NOT_MODIFIED,
    BodyRefused,
    NotRunrate,
    Patience,
    Route,
    TokenRefused,
    Uplink,
    UplinkFailed,
    server_at,
)

PATH = "/api/v1/placements/slurm-cache?cluster="
FORMAT = ("runrate-slurm-cache", "1")
MOST_BYTES = 1 << 18
"""As much as job_submit.lua reads."""
LONGEST_TEXT = 200
PATIENCE_SECONDS = 30.0
LONGEST_WAIT_SECONDS, REFUSED_SECONDS = 300.0, 600.0
CONTROLS = dict.fromkeys((*range(32), 127), " ")
Fields = Sequence[object]


class CacheTooLarge(UplinkFailed):
    """The file would be larger than what is read of it; the last one stays."""


@dataclass(**SLOTS)
class SlurmCacheKeeper:
    """Asks the server and writes the file."""

    uplink: Uplink
    cluster: str
    path: Path
    partitions: Sequence[tuple[str, str]] = ()
    clock: Callable[[], float] = time.time
    _etag: str = ""
    _document: Mapping[str, Any] = field(default_factory=dict)

    def refresh(self) -> None:
        """One answer in the file. Refuses UplinkFailed, and OSError where it cannot be written."""
        answer = self.uplink.get(PATH + quote(self.cluster, safe=""), self._etag)
        if answer.status != NOT_MODIFIED:
            self._document = answer.document()
        try:
            text = cache_text(self._document, self.partitions, now=int(self.clock()))
        except (KeyError, TypeError, ValueError) as error:
            raise NotRunrate(f"the server's answer is not understood: {error!r}") from error
        write_whole(self.path, text)
        # Only what is in the file is not asked for again.
        self._etag = answer.headers.get("etag", "")


def keeper_of(settings: Settings) -> SlurmCacheKeeper:
    """By the settings. Refuses SettingsRefused, TokenFileUnreadable and AddressUnusable."""
    server, cluster = settings.server, settings.holders.cluster
    if not cluster:
        raise SettingsRefused("holders.cluster is needed: the cluster's name at the server")
    patience = Patience(PATIENCE_SECONDS)
    route = Route(server.ca_file, server.proxy)
    uplink = Uplink(server_at(server.url), token_in(Path(server.token_file)), patience, route)
    pairs = [split_pair(each) for each in settings.slurm.partitions]
    return SlurmCacheKeeper(uplink, cluster, Path(settings.slurm.cache_file), pairs)


def keep_refreshed(keeper: SlurmCacheKeeper, seconds: float, stopped: threading.Event) -> None:
    """Refresh until stopped; what fails is said once, tried later and later, and leaves the file as it is."""
    said, wait = "", seconds
    while not stopped.is_set():
        try:
            keeper.refresh()
        except (UplinkFailed, OSError) as failed:
            problem = str(failed)
            is_refused = isinstance(failed, (TokenRefused, BodyRefused))
            longest = REFUSED_SECONDS if is_refused else LONGEST_WAIT_SECONDS
            wait = longest if is_refused else min(wait * 2, max(longest, seconds))
        else:
            problem, wait = "", seconds
        if problem != said:
            say(
                f"{keeper.path} is not refreshed: {problem}"
                if problem
                else f"{keeper.path} is refreshed"
            )
        said = problem
        stopped.wait(wait)


def cache_text(
    document: Mapping[str, Any], partitions: Sequence[tuple[str, str]], *, now: int
) -> str:
    """The file. Refuses CacheTooLarge; KeyError, TypeError and ValueError of what is no such answer."""
    lines = ["\t".join(map(_cell, each)) for each in _rows(document, partitions, now)]
    text = "\n".join([*lines, f"end\t{len(lines)}", ""])
    if len(text.encode()) > MOST_BYTES:
        raise CacheTooLarge(
            f"the cache would be {len(text.encode())} bytes, more than {MOST_BYTES}"
        )
    return text


def write_whole(path: Path, text: str) -> None:
    """Write beside it and rename, so that nobody reads half of it; for the owner of the folder alone."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # One of its own: as root in another's folder, what lies there under this name is not written into.
        draft.unlink(missing_ok=True)
        number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            if os.geteuid() == 0:
                folder = path.parent.stat()
                os.fchown(file.fileno(), folder.st_uid, folder.st_gid)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _rows(
    told: Mapping[str, Any], partitions: Sequence[tuple[str, str]], now: int
) -> Iterator[Fields]:
    yield FORMAT
    yield "cluster", told["cluster"]
    yield "currency", told["currency"]
    yield "made_at", now
    yield "valid_until", now + int(told["valid_seconds"])
    yield "digest", told["digest"]
    yield from _pool_rows(told["pools"], partitions)
    for each in told["limits"]:
        yield (
            "limit", each["id"], _hardness(each), each["unit"], each["left_now"],
            each["left_expected"], each["name"],
        )  # fmt: skip
    for each in told["owners"]:
        seen = "hidden" if each["is_hidden"] else "seen"
        asked = (each[name] for name in ("account", "partition", "user", "name"))
        yield ("owner", *asked, seen, each["team"], [int(limit) for limit in each["limits"]])
    for each in told["quotes"]:
        best = "best" if each["is_best"] else "other"
        charged = _amount(each["charged"])
        yield "quote", each["id"], each["pool"], best, each["team"], each["gpus"], charged
    for each in told["overrides"]:
        most = each["gpus"], each["gpu_hours"]
        yield "override", each["admission"], each["team"], *most, each["overridden_by"]


def _pool_rows(
    pools: Sequence[Mapping[str, Any]], partitions: Sequence[tuple[str, str]]
) -> Iterator[Fields]:
    """`partitions` of the operator (with their pools) take the place of what the server says of these and of their pools."""
    stated = {partition for partition, _ in partitions}
    for pool in pools:
        prices = _amount(pool["paid"]), _amount(pool["price"])
        own = pool["name"], pool["option"], pool["gpu_type"]
        yield ("pool", *own, *prices, pool["idle_gpus"], pool["median_wait_hours"])
        for each in pool["quotas"]:
            yield "quota", pool["name"], _hardness(each), each["left_gpus"], each["name"]
        named = [partition for partition, of in partitions if of == pool["name"]]
        for partition in named or [each for each in pool["partitions"] if each not in stated]:
            yield "partition", partition, pool["name"]


def _hardness(limit: Mapping[str, Any]) -> str:
    return "hard" if limit["is_hard"] else "soft"


def _amount(money: Mapping[str, Any] | None) -> object:
    return None if money is None else money["amount"]


def _cell(value: object) -> str:
    """A name may be cut, a list of numbers never: the rest would name others."""
    if value is None:
        return ""
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)[:LONGEST_TEXT]
    return text.translate(CONTROLS).strip()
