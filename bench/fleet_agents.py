"""Many agents in one process, each with a token, a sequence and a spool (in memory) of its own.

`main` reads a Fleet as JSON from stdin and prints what became of its windows as JSON.
"""

import asyncio
import json
import random
import secrets
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from bench.ingest_bodies import GPUS, uuid_of
from runrate_agent.batch import Batch, Columns, DeviceRecord, Stamp
from runrate_agent.uplink import (
    FIRST_WAIT_SECONDS,
    LONGEST_WAIT_SECONDS,
    PASSING_STATUSES,
    TIMEOUT_SECONDS,
)

DRAIN_SECONDS = 120.0
PATH = "/api/v1/telemetry/batches"
# Whoever stops before the answer ends did not answer.
AWAY = (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError)


@dataclass(frozen=True, slots=True)
class Fleet:
    """An agent for each secret, for so many seconds of windows so many seconds long."""

    port: int
    secrets: Sequence[str]
    seconds: float
    window_seconds: int


@dataclass(slots=True)
class Tally:
    """What became of it; latencies in ms, of taken batches, each from the sending that was taken.

    Each agent's first batch, with which its GPUs are registered, is in `first_latencies_ms` too.
    """

    windows_sent: int = 0
    windows_acknowledged: int = 0
    windows_rejected: int = 0
    batches_repeated: int = 0
    batches_refused: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    first_latencies_ms: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Agent:
    """One node's agent: makes a batch a window, sends the oldest until it is taken."""

    place: int
    fleet: Fleet
    tally: Tally
    boot_ms: int
    waiting: deque[Batch] = field(default_factory=deque)
    is_done: bool = False
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def measure(self) -> None:
        """A batch for each window, at this agent's own moment within the one that follows."""
        length = self.fleet.window_seconds
        count = int(self.fleet.seconds // length)
        first = int(time.time()) // length * length
        # Spread by what an agent's start is: at no moment the same for a thousand nodes.
        phase = random.Random(self.place).random() * length  # noqa: S311
        for sequence in range(count):
            starts_at = first + sequence * length
            await asyncio.sleep(max(0.0, starts_at + length + phase - time.time()))
            self.waiting.append(self._batch(sequence, starts_at * 1000))
            self.tally.windows_sent += GPUS
            self._more.set()
        self.is_done = True
        self._more.set()

    async def send(self) -> None:
        """Until all that was measured is taken."""
        attempt = 0
        while self.waiting or not self.is_done:
            if not self.waiting:
                self._more.clear()
                await self._more.wait()
                continue
            asked = await self._attempt(self.waiting[0])
            if asked is None:
                self.waiting.popleft()
                attempt = 0
                continue
            self.tally.batches_repeated += 1
            await asyncio.sleep(asked or _wait_seconds(attempt))
            attempt += 1
        self._close()

    async def _attempt(self, batch: Batch) -> float | None:
        """None where it is done with; else the wait that the server asks for, 0 for none."""
        began = time.perf_counter()
        body = batch.encoded(sent_at_ms=time.time_ns() // 1_000_000)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                status, retry_after, answer = await self._exchange(body)
        except AWAY:
            self._close()
            return 0.0
        if status in PASSING_STATUSES:
            return retry_after
        if status == 200:
            latency_ms = (time.perf_counter() - began) * 1000
            self.tally.latencies_ms.append(latency_ms)
            if not batch.stamp.sequence:
                self.tally.first_latencies_ms.append(latency_ms)
            rejected = len(json.loads(answer)["rejected"])
            self.tally.windows_rejected += rejected
            self.tally.windows_acknowledged += GPUS - rejected
        else:
            self.tally.batches_refused += 1
        return None

    async def _exchange(self, body: bytes) -> tuple[int, float, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self.fleet.port)
        reader, writer = self._streams
        writer.write(
            f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{self.fleet.port}\r\n"
            f"Authorization: Bearer {self.fleet.secrets[self.place]}\r\n"
            "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status, *lines = head.split("\r\n")
        headers = {
            name: value.strip() for name, _, value in (each.partition(":") for each in lines)
        }
        answer = await reader.readexactly(int(headers["content-length"]))
        wait = headers.get("retry-after", "0")
        return int(status.split()[1]), float(wait) if wait.isdigit() else 0.0, answer

    def _close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    def _batch(self, sequence: int, starts_at_ms: int) -> Batch:
        draw = random.Random(self.place * 100_003 + sequence)  # noqa: S311 - a load, not a secret
        length = self.fleet.window_seconds
        columns = Columns(
            device=list(range(GPUS)),
            holder=[1] * GPUS,
            starts_at_ms=[starts_at_ms] * GPUS,
            seconds=[length] * GPUS,
            observed_seconds=[float(length)] * GPUS,
            worked_seconds=[round(draw.uniform(0, length), 2) for _ in range(GPUS)],
            sm_ratio=[round(draw.random(), 3) for _ in range(GPUS)],
            energy_joules=[round(draw.uniform(700, 7_000), 1) for _ in range(GPUS)],
        )
        devices = [
            DeviceRecord(uuid_of(self.place, index), "NVIDIA H100 80GB HBM3", index)
            for index in range(GPUS)
        ]
        stamp = Stamp(self.boot_ms, sequence, "0.2.0", "nvml")
        return Batch(stamp, devices, ["", f"slurm/atlas/{self.place}"], columns)


def _wait_seconds(attempt: int) -> float:
    """As the agent's uplink waits: doubling, somewhere in the upper half."""
    longest = min(FIRST_WAIT_SECONDS * (1 << min(attempt, 10)), LONGEST_WAIT_SECONDS)
    return longest * (0.5 + secrets.randbelow(500) / 1000)


async def played(fleet: Fleet) -> Tally:
    """The fleet's whole life, and then as long as it takes to send the rest, up to two minutes."""
    tally = Tally()
    boot_ms = time.time_ns() // 1_000_000
    agents = [Agent(place, fleet, tally, boot_ms) for place in range(len(fleet.secrets))]
    longest = fleet.seconds + 2 * fleet.window_seconds + DRAIN_SECONDS
    tasks = [
        asyncio.create_task(each) for agent in agents for each in (agent.measure(), agent.send())
    ]
    _, late = await asyncio.wait(tasks, timeout=longest)
    for task in late:
        task.cancel()
    for task in tasks:
        if task not in late:
            task.result()
    return tally


def main() -> None:
    """One fleet, then the end."""
    print(json.dumps(asdict(asyncio.run(played(Fleet(**json.load(sys.stdin)))))))


if __name__ == "__main__":
    main()
