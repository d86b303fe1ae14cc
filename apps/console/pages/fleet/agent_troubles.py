"""Troubles of an agent, in words, and what somebody should do about each in a sentence."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.fleet.queries import AgentState
from apps.show.amounts import counted
from apps.show.incidents import AGENT_STATES, PROBLEMS
from apps.show.time import duration

SILENT_AFTER = timedelta(minutes=10)
WAITS_TOO_LONG = timedelta(minutes=10)
CLOCK_LIMIT = timedelta(seconds=2)
STATES_WELL = frozenset({"", "ok", "starting"})
ADVICE = {
    **PROBLEMS,
    "uplink": "See that the node reaches this server: name, firewall, proxy, certificate and token.",
    "spool": "Free the disk that holds the agent’s spool, or give it a folder it may write.",
    "source": "See the state: what measures does not answer as it should.",
}
NOT_KNOWN = "Run runrate-agent check on the node: it says what works and what does not."


@dataclass(frozen=True, slots=True)
class Trouble:
    """A trouble of an agent, and what to do about it in a sentence."""

    what: str
    advice: str
    detail: str = ""


def troubles_of(agent: AgentState, at: datetime, newest: str) -> tuple[Trouble, ...]:
    """All that is wrong, the gravest first; nothing of an agent whose node has ended."""
    if agent.node_ended_at is not None and agent.node_ended_at <= at:
        return ()
    return (
        *_silence_trouble(agent, at),
        *_state_trouble(agent),
        *_gpus_trouble(agent),
        *_spool_trouble(agent, at),
        *_clock_trouble(agent),
        *_version_trouble(agent, newest),
        *_reported_trouble(agent),
    )


def is_silent(agent: AgentState, at: datetime) -> bool:
    """Whether it was not heard of late."""
    return agent.last_seen_at is None or at - agent.last_seen_at > SILENT_AFTER


def _silence_trouble(agent: AgentState, at: datetime) -> Iterator[Trouble]:
    if agent.last_seen_at is None:
        yield Trouble(
            "Enrolled, and not heard yet",
            "Start it on the node, and run runrate-agent check there.",
            f"enrolled {duration(at - agent.enrolled_at)} ago",
        )
    elif is_silent(agent, at):
        yield Trouble(
            "Silent",
            "See that the node is up, the agent runs, and the network allows it out.",
            f"last heard {duration(at - agent.last_seen_at)} ago",
        )


def _state_trouble(agent: AgentState) -> Iterator[Trouble]:
    if agent.state in STATES_WELL:
        return
    words = AGENT_STATES.get(agent.state)
    yield Trouble(words.label, words.advice) if words else Trouble(agent.state, NOT_KNOWN)


def _gpus_trouble(agent: AgentState) -> Iterator[Trouble]:
    expected, visible = agent.expected_gpus, agent.seen_gpus
    if expected is None or visible is None or visible >= expected or agent.state == "gpus_missing":
        return
    yield Trouble(
        f"It sees {visible:,} of {counted(expected, 'GPU')}",
        "Drain the node and look at the GPUs that are missing.",
        ", ".join(agent.missing),
    )


def _spool_trouble(agent: AgentState, at: datetime) -> Iterator[Trouble]:
    oldest = agent.spool_oldest_at
    # How long it waited by the agent's own last word: since then nothing is known.
    if oldest is not None and (agent.at or at) - oldest > WAITS_TOO_LONG:
        yield Trouble(
            "Its spool grows: it measures and cannot send",
            "See that the network lets the node reach this server; nothing is lost until the "
            "spool is full.",
            f"the oldest waits since {duration(at - oldest)}",
        )
    if agent.dropped_windows:
        yield Trouble(
            f"{counted(agent.dropped_windows, 'window')} dropped since it was started",
            "Give the spool more room (spool.most_megabytes), and mend its way to this server.",
        )


def _clock_trouble(agent: AgentState) -> Iterator[Trouble]:
    offset = timedelta(milliseconds=agent.clock_offset_ms)
    if abs(offset) > CLOCK_LIMIT:
        way = "behind" if offset > timedelta(0) else "ahead"
        yield Trouble(
            f"Its clock is {duration(abs(offset))} {way}",
            "Run NTP or chrony on the node; meanwhile the server puts its times right.",
        )


def _version_trouble(agent: AgentState, newest: str) -> Iterator[Trouble]:
    if agent.version and version_key(agent.version) < version_key(newest):
        yield Trouble(
            f"Its version {agent.version} is older than {newest}, which others run",
            "Upgrade it: install the wheel of /downloads/ of this server, then restart it.",
        )


def _reported_trouble(agent: AgentState) -> Iterator[Trouble]:
    for code, detail in agent.problems:
        # The state says the same in plainer words.
        if code != "source" or agent.state in STATES_WELL:
            problem_text = code.replace("_", " ").capitalize()
            yield Trouble(problem_text, ADVICE.get(code, NOT_KNOWN), detail)


def version_key(version: str) -> tuple[int, ...]:
    """By which versions are ordered; one that is no number is older than any."""
    parts = version.split("+", maxsplit=1)[0].split(".")
    return tuple(int(part) if part.isascii() and part.isdigit() else -1 for part in parts[:4])
