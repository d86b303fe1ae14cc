"""As whom `check` looks: as the unit's user where a unit is installed, else as whoever runs it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runrate_agent.checking import BAD, GOOD, NOTE, Finding, cache_findings, findings
from runrate_agent.settings import Settings, settings_in
from runrate_agent.unit import (
    AGENT_UNIT,
    BOOTED,
    CACHE_UNIT,
    Done,
    Unit,
    activity_of,
    current_user,
    installed_units,
    run_as_unit,
)

FINDINGS_OF: Mapping[str, Callable[[Settings], Iterator[Finding]]] = {
    AGENT_UNIT: findings,
    CACHE_UNIT: cache_findings,
}


def looked_around(config: Path) -> Iterator[Finding]:
    """All findings, of each installed unit as that unit; only root can look as another."""
    units = installed_units() if os.geteuid() == 0 else []
    for unit in units:
        yield from seen_by_unit(unit, config)
    if units:
        return
    if os.geteuid() == 0 and BOOTED.is_dir():
        said = f"{AGENT_UNIT} is not installed: root looks, who may read more than the agent will"
        yield Finding(NOTE, "unit", said, current_user())
    yield from seen_here(config, AGENT_UNIT)


def seen_here(config: Path, unit: str) -> Iterator[Finding]:
    """What a unit's program finds, run by whoever runs this. Refuses SettingsRefused."""
    viewer = current_user()
    for finding in FINDINGS_OF[unit](settings_in(config)):
        yield replace(finding, viewer=viewer)


def seen_by_unit(unit: Unit, config: Path) -> Iterator[Finding]:
    """What the unit's own program finds, run as the unit runs it."""
    viewer = f"{unit.user}, {unit.name}"
    if not unit.command:
        yield Finding(BAD, "unit", f"{unit.name} has no ExecStart=", current_user())
        return
    own = config_of(unit, config)
    if own != config:
        said = f"{unit.name} reads {own}, so that is what was looked at, not {config}"
        yield Finding(NOTE, "unit", said, current_user())
    command = [unit.command[0], "check", "--json", "--here", unit.name, "--config", str(own)]
    yield from findings_in(run_as_unit(unit, command), viewer)
    yield _activity(unit)


def config_of(unit: Unit, otherwise: Path) -> Path:
    """The settings that the unit's command names."""
    words = unit.command
    return Path(words[words.index("--config") + 1]) if "--config" in words[:-1] else otherwise


def findings_in(done: Done, viewer: str) -> Iterator[Finding]:
    """The lines that a check printed; one more where it did not come so far."""
    is_any_bad = False
    for line in done.output.splitlines():
        told: dict[str, Any] = json.loads(line)
        finding = Finding(told["grade"], told["subject"], told["said"], viewer)
        is_any_bad = is_any_bad or finding.grade == BAD
        yield finding
    if done.status and not is_any_bad:
        last = (done.errors.strip().splitlines() or [f"it ended with {done.status}"])[-1]
        said = done.failed or last.partition("runrate-agent: ")[2] or last
        yield Finding(BAD, "unit", f"it does not start: {said}", viewer)


def _activity(unit: Unit) -> Finding:
    """Whether the unit runs."""
    state = activity_of(unit)
    if state == "active":
        return Finding(GOOD, "unit", f"{unit.name} is active", current_user())
    hint = f"`systemctl enable --now {unit.name.partition('.')[0]}` starts it"
    return Finding(NOTE, "unit", f"{unit.name} is {state}; {hint}", current_user())
