"""Slurm's trackable resources: `cpu=12,mem=62.50G,gres/gpu=2,gres/gpu:h100=2`."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from apps.workloads.providers.amounts import read_amount
from apps.workloads.providers.job_record import FieldUnreadable

_POWERS_OF_1024 = {"K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


@dataclass(frozen=True, slots=True)
class Tres:
    """What a job was allocated, over all its nodes. None: the text does not say.

    `gpu_type` is the one type of its GPUs; empty where none, or several, are named.
    """

    cpus: Fraction | None = None
    nodes: int | None = None
    memory_bytes: int | None = None
    gpus: Fraction = Fraction(0)
    shards: Fraction = Fraction(0)
    gpu_type: str = ""


# A file repeats the same few texts, as it does node lists.
@lru_cache(maxsize=4096)
def read_tres(text: str, *, field_name: str) -> Tres:
    """Read one TRES text.

    `gres/gpu` is the total and its typed forms (`gres/gpu:h100`) say what it is made of, so the
    two are never added; where only typed ones are there, they add up among themselves.
    """
    amounts: dict[str, str] = {}
    for pair in filter(None, text.strip().split(",")):
        key, separator, amount = pair.partition("=")
        if not separator:
            raise FieldUnreadable(field_name, f"{pair!r} is not name=amount")
        amounts[key.strip()] = amount.strip()
    return Tres(
        cpus=_read_quantity(amounts["cpu"], field_name) if "cpu" in amounts else None,
        nodes=int(_read_quantity(amounts["node"], field_name)) if "node" in amounts else None,
        memory_bytes=int(_read_quantity(amounts["mem"], field_name, unit="M"))
        if "mem" in amounts
        else None,
        gpus=_of_kind("gres/gpu", amounts, field_name),
        shards=_of_kind("gres/shard", amounts, field_name),
        gpu_type=_only_type("gres/gpu", amounts),
    )


def _only_type(kind: str, amounts: dict[str, str]) -> str:
    types = [key.removeprefix(f"{kind}:") for key in amounts if key.startswith(f"{kind}:")]
    return types[0] if len(types) == 1 else ""


def _of_kind(kind: str, amounts: dict[str, str], field_name: str) -> Fraction:
    if kind in amounts:
        return _read_quantity(amounts[kind], field_name)
    typed = (amount for key, amount in amounts.items() if key.startswith(f"{kind}:"))
    return sum((_read_quantity(amount, field_name) for amount in typed), Fraction(0))


def _read_quantity(amount: str, field_name: str, *, unit: str = "") -> Fraction:
    """`62.50G` in bytes for memory (a bare number counts in `unit`), `2K` as 2,048 for counts."""
    number, letter = amount, unit
    if amount[-1:].upper() in _POWERS_OF_1024:
        number, letter = amount[:-1], amount[-1:].upper()
    value = read_amount(number, field_name=field_name, of="an amount")
    return value * int(1024 ** _POWERS_OF_1024.get(letter, 0))
