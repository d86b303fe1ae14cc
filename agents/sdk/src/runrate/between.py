"""What passes between a trainer's steps: one phase at a time, named when it is known what it was."""

from __future__ import annotations

from typing import Any

from runrate.running import Run


class Between:
    """Time that belongs to no step, or that a step spends on something else."""

    __slots__ = ("_phase", "_run")

    def __init__(self, run: Run) -> None:
        """Nothing passes yet."""
        self._run = run
        self._phase: Any = None

    @property
    def name(self) -> str:
        """The phase that is under way; "" where none is."""
        return "" if self._phase is None else str(self._phase.name)

    def turn(self, name: str) -> str:
        """From now on it is this phase, "" for none; what it was before."""
        before = self.name
        self.end()
        if name:
            self._phase = self._run.phase(name)
            self._phase.__enter__()
        return before

    def end(self, name: str = "") -> None:
        """What was under way is over; `name` where only now is known what it was."""
        if self._phase is not None:
            self._phase.name = name or self._phase.name
            self._phase.__exit__(None, None, None)
            self._phase = None
