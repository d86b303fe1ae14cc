"""What a line of a training program's log says: torchtitan, Megatron, nanotron, or your own."""

from __future__ import annotations

import re
from dataclasses import dataclass

ANSI = re.compile(r"\x1b\[[0-9;]*m")
LONGEST = 4096
SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}


@dataclass(frozen=True)
class Said:
    """A step and what the line tells of it; rates are of a second, None where it does not say.

    `tokens_per_second_per_gpu` is each device's, `seconds` are of the step; `loss` may be no finite
    number. `is_of_one_rank` where its program prints such lines on one rank alone, wherever that is.
    """

    step: int
    seconds: float | None = None
    tokens: float | None = None
    tokens_per_second: float | None = None
    tokens_per_second_per_gpu: float | None = None
    examples: float | None = None
    flops_per_second_per_gpu: float | None = None
    is_of_one_rank: bool = False
    loss: float | None = None


NUMBER = r"([\d][\d.,]*[KMGBT]?)"
ONE_RANK_STEP = re.compile(r"\biteration:?\s+(\d+)\s*/")
"""Of Megatron and nanotron: the last rank of the pipeline prints."""
STEPS = (re.compile(r"\bstep:\s*(\d+)\b"), ONE_RANK_STEP)
A_LOSS = r"([-+]?(?:nan|inf|\d[\d.,]*(?:e[-+]?\d+)?[KMGBT]?))"
LOSS = (
    re.compile(rf"\blm[ _]loss:\s*{A_LOSS}", re.IGNORECASE),
    re.compile(rf"\bloss:\s*{A_LOSS}", re.IGNORECASE),
)
FIELDS = {
    "tokens_per_second_per_gpu": (
        re.compile(rf"\btokens_per_sec_per_gpu:\s*{NUMBER}"),
        re.compile(rf"\btps:\s*{NUMBER}"),
    ),
    "tokens_per_second": (re.compile(rf"\btokens_per_sec:\s*{NUMBER}"),),
    "milliseconds": (
        re.compile(rf"\belapsed time per iteration \(ms\):\s*{NUMBER}"),
        re.compile(rf"\belapsed_time_per_iteration_ms:\s*{NUMBER}"),
    ),
    "teraflops": (
        re.compile(rf"\btflops:\s*{NUMBER}"),
        re.compile(rf"\bthroughput per GPU \(TFLOP/s/GPU\):\s*{NUMBER}"),
        re.compile(rf"\bmodel_tflops_per_gpu:\s*{NUMBER}"),
    ),
    "examples": (
        re.compile(rf"\bglobal batch size:\s*{NUMBER}"),
        re.compile(rf"\bglobal_batch_size:\s*{NUMBER}"),
    ),
}


def read_line(line: str, own: re.Pattern[str] | None = None) -> Said | None:
    """What a line tells of a step; None where it tells of none.

    `own` has a group `step` and may have `seconds`, `tokens`, `tokens_per_second`, `examples`, `loss`.
    """
    text = ANSI.sub("", line[:LONGEST])
    if own is not None:
        return _own(text, own)
    step = next((found for each in STEPS if (found := each.search(text))), None)
    if step is None:
        return None
    told = {name: _first(text, patterns) for name, patterns in FIELDS.items()}
    if not any(value is not None for value in told.values()):
        return None
    milliseconds, teraflops = told["milliseconds"], told["teraflops"]
    return Said(
        step=int(step.group(1)),
        seconds=None if milliseconds is None else milliseconds / 1e3,
        tokens_per_second=told["tokens_per_second"],
        tokens_per_second_per_gpu=told["tokens_per_second_per_gpu"],
        examples=told["examples"],
        flops_per_second_per_gpu=None if teraflops is None else teraflops * 1e12,
        is_of_one_rank=step.re is ONE_RANK_STEP,
        loss=_first(text, LOSS),
    )


def _own(text: str, own: re.Pattern[str]) -> Said | None:
    found = own.search(text)
    if found is None:
        return None
    groups = found.groupdict()
    numbers = {
        name: _number(groups[name])
        for name in ("seconds", "tokens", "tokens_per_second", "examples", "loss")
        if groups.get(name)
    }
    step = _number(groups.get("step") or "")
    if step is None:
        return None
    return Said(
        step=int(step),
        seconds=numbers.get("seconds"),
        tokens=numbers.get("tokens"),
        tokens_per_second=numbers.get("tokens_per_second"),
        examples=numbers.get("examples"),
        loss=numbers.get("loss"),
    )


def _first(text: str, patterns: tuple[re.Pattern[str], ...]) -> float | None:
    found = next((match for each in patterns if (match := each.search(text))), None)
    return None if found is None else _number(found.group(1))


def _number(text: str) -> float | None:
    scale = SCALES.get(text[-1:], 1.0)
    digits = text.rstrip("KMGBT").replace(",", "")
    try:
        return float(digits) * scale
    except ValueError:
        return None
