"""What the scheduler itself says of a job on this node: asked of `scontrol`, by the agent alone.

A prolog must not ask: it would hold up the job. The controller forgets a job some minutes after its
end (MinJobAge), which is long enough for an agent that reads notes every ten seconds.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from runrate_agent.compat import SLOTS

TIMEOUT_SECONDS = 2.0
SILENT_SECONDS = 60.0
"""A controller that hangs is not asked again so soon: whoever asks is also who measures."""
FIELD = re.compile(r"(?:^|\s)([A-Za-z][\w/:]*)=(\S*)")
SHARDS = re.compile(r"shard(?::[^:,(]+)?:(\d+)")
GPUS = re.compile(r"(?:^|,)gpu(?::[^:,(]+)?:(\d+)")
PLACED = "runrate:"
PLACEMENT = re.compile(r"[:,](quote|admission)=(\d{1,18})(?=,|$)")
NO_SUCH_JOB = "Invalid job id"
"""What the controller says of one that it has forgotten."""
UNSAID = frozenset({"", "(null)", "None", "N/A", "Unknown"})


@dataclass(frozen=True, **SLOTS)
class SlurmFact:
    """A job as the controller has it; None where it does not say. `share` of one GPU by shards.

    `is_share_unknown`: it holds shards, and the node does not say how many a GPU has.
    """

    state: str | None
    name: str | None = None
    account: str | None = None
    array_id: str | None = None
    het_id: str | None = None
    share: Fraction | None = None
    is_share_unknown: bool = False
    placement: Mapping[str, str] = field(default_factory=dict)


def placement_labels(admin_comment: str) -> dict[str, str]:
    """The quote and the admission that job_submit.lua wrote into a job's AdminComment, which users cannot write."""
    if not admin_comment.startswith(PLACED):
        return {}
    said = dict(PLACEMENT.findall(admin_comment.partition(" ")[0]))
    return {f"RUNRATE_{name.upper()}": number for name, number in said.items()}


@dataclass(**SLOTS)
class Scontrol:
    """Asks; whatever goes wrong is as if nothing were known, and said in `problem`."""

    host: str
    program: str = "scontrol"
    problem: str = ""
    _shards_of_gpu: Fraction | None = None
    _has_asked_node: bool = field(default=False)
    _silent_until: float = field(default=0.0)

    def job(self, job_id: str) -> SlurmFact | None:
        """The job of this raw id, which in an array is one task's."""
        for line in self._asked("-d", "-o", "show", "job", job_id).splitlines():
            told = dict(FIELD.findall(line))
            if told.get("JobId") == job_id:
                return self._fact(told)
        return None

    def _fact(self, told: Mapping[str, str]) -> SlurmFact:
        def said(name: str) -> str | None:
            return None if told.get(name, "") in UNSAID else told[name]

        shards = SHARDS.search(told.get("JOB_GRES", ""))
        return SlurmFact(
            state=said("JobState"),
            name=said("JobName"),
            account=said("Account"),
            array_id=said("ArrayJobId"),
            het_id=said("HetJobId"),
            share=None if shards is None else self._share(int(shards[1])),
            is_share_unknown=shards is not None and not self._shards_of_gpu,
            placement=placement_labels(told.get("AdminComment", "")),
        )

    def _share(self, shards: int) -> Fraction | None:
        """Of one GPU: a job's shards over those that the node has on each."""
        if not self._has_asked_node:
            self._has_asked_node = True
            told = dict(FIELD.findall(self._asked("-o", "show", "node", self.host)))
            gres = told.get("Gres", "")
            all_shards, gpus = SHARDS.search(gres), GPUS.search(gres)
            if all_shards and gpus and int(gpus[1]):
                self._shards_of_gpu = Fraction(int(all_shards[1]), int(gpus[1]))
        if not self._shards_of_gpu:
            return None
        share = Fraction(shards) / self._shards_of_gpu
        return share if 0 < share < 1 else None

    def _asked(self, *words: str) -> str:
        program = shutil.which(self.program)
        if program is None or time.monotonic() < self._silent_until:
            return ""
        try:
            done = subprocess.run(
                [program, *words],
                capture_output=True,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._silent_until = time.monotonic() + SILENT_SECONDS
            self.problem = f"{program} did not answer in {TIMEOUT_SECONDS:.0f} s"
            return ""
        except OSError as refused:
            self.problem = f"{program}: {refused.strerror}"
            return ""
        is_answered = done.returncode == 0 or NO_SUCH_JOB in done.stderr
        self.problem = "" if is_answered else f"{program}: {done.stderr.strip()[:200]}"
        return done.stdout if done.returncode == 0 else ""
