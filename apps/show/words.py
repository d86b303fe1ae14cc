"""Words for what the ledger stores as keys: states, statuses, bases, flags; and lists in words."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateWords:
    """How one state of GPU time is named, drawn and explained everywhere."""

    key: str
    label: str
    explanation: str
    is_hatched: bool = False

    @property
    def token(self) -> str:
        """The custom property that holds its colour."""
        return f"--state-{self.key.replace('_', '-')}"

    @property
    def css_class(self) -> str:
        """The class that paints it in HTML and SVG."""
        return f"state-{self.key.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class Word:
    """A short label and the sentence that explains it."""

    key: str
    label: str
    explanation: str


# In the order they are stacked and listed: active, otherwise allocated to a job, not held by a job.
STATES = (
    StateWords("active", "Active", "A kernel of the holder was resident on the GPU."),
    StateWords(
        "held_idle",
        "Idle while allocated",
        "A job held the GPU, and no kernel was resident on it.",
    ),
    StateWords(
        "unobserved",
        "Unobserved",
        "A job held the GPU, and nothing measured whether a kernel was resident.",
        is_hatched=True,
    ),
    StateWords("unallocated", "Unallocated", "Paid for and not held by a job."),
    StateWords(
        "stranded",
        "Stranded",
        "Not held by a job: left over by the way the GPU was cut into MIG slices.",
    ),
    StateWords(
        "out_of_service",
        "Out of service",
        "Not held by a job: down, drained, failed or in maintenance.",
    ),
    StateWords(
        "other",
        "Other charges",
        "No GPU time of its own: unused commitment, shared charges, purchases, credits and taxes.",
    ),
)
NOT_WORKED = ("held_idle", "unallocated", "stranded", "out_of_service")
"""States that are waste, whatever else is: it is known that no kernel was resident."""
WASTE_WORDS = {
    "failed": "failed or redone",
    "no_requests": "no requests",
    "held_idle": "otherwise idle while allocated",
    "unallocated": "unallocated",
    "stranded": "stranded",
    "out_of_service": "out of service",
}
"""Parts of waste, by key. What was idle in failed work, or in hours without requests, is in these parts, and not beside
them: so that of waste is *otherwise* idle, and less than the state of the same name."""

STATUSES = (
    Word(
        "provisional",
        "Provisional",
        "Part of it is still running or ended less than two hours ago, so late measurements can "
        "change it.",
    ),
    Word("estimated", "Estimated", "From rates and measured time; the bill has not come yet."),
    Word("reconciled", "Reconciled", "Matched with the provider's bill."),
    Word("restated", "Restated", "Changed after it was first reported, by late data or a price."),
)
BASES = (
    Word("effective", "Effective", "What it costs with commitments and discounts spread over use."),
    Word("contracted", "Contracted", "The negotiated price, before commitments are spread."),
    Word("list", "List", "The provider's public price."),
    Word("billed", "Billed", "What the invoice says; unknown until the bill has come."),
)
FLAGS = (
    Word("unscheduled", "Unscheduled", "The job's process ran on a GPU that it had not claimed."),
    Word("unclaimed", "Unclaimed", "The GPU was active for a process of no known job."),
    Word("contested", "Contested", "More was claimed than there is; the claims were scaled down."),
    Word("unpinned", "Unpinned", "Which of the node's GPUs the job had is not known."),
    Word(
        "divided_evenly",
        "Divided evenly",
        "The job stated one total for several nodes; each node was given an equal part.",
    ),
    Word("shared", "Shared", "Part of a charge that several teams share."),
    Word("shared_idle", "Shared idle", "Idle cost moved to those who used the pool."),
    Word("provisional_rate", "Provisional rate", "Priced at a rate that is not final."),
    Word(
        "uncounted",
        "Uncounted",
        "A job held a part of it, and how many cores was not reported; what was free is not known.",
    ),
    Word("cores", "Cores", "What the node's cores carry of its cost, beside its GPUs."),
)
EVIDENCES = (
    Word("process", "Process seen", "The holder's own process was seen on the GPU."),
    Word("device", "Device reading", "The GPU's own reading, and this was its only holder."),
    Word("none", "Nothing observed", "No agent reported whether the GPU was active."),
    Word("pooled", "Pooled", "The mean of the GPUs that the job may have been on."),
)

_STATE = {state.key: state for state in STATES}
_STATUS = {word.key: word for word in STATUSES}
_BASIS = {word.key: word for word in BASES}
_EVIDENCE = {word.key: word for word in EVIDENCES}
_FLAG = {word.key: word for word in FLAGS}


def state_words(key: str | None) -> StateWords:
    """The words of a state; money without device time (None) is *Other charges*."""
    return _STATE[key or "other"]


def status_words(key: str) -> Word:
    """The label and the tooltip sentence of a charge's status."""
    return _STATUS[key]


def basis_words(key: str) -> Word:
    """The label and the tooltip sentence of a cost basis."""
    return _BASIS[key]


def flag_words(key: str) -> Word:
    """The label and the tooltip sentence of a line's flag."""
    return _FLAG[key]


def evidence_words(key: str) -> Word:
    """The label and the tooltip sentence of what a line's state rests on."""
    return _EVIDENCE[key]


def joined(parts: Sequence[str]) -> str:
    """A list in words: `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


OPTIONS = {"on_demand": "On demand", "spot": "Spot", "reserved": "Reserved", "owned": "Owned"}
"""How machines are bought."""
CAUSE_WORDS = {
    "price": ("Price", "rates per hour of a machine as it is bought, before commitments"),
    "capacity": (
        "Capacity",
        "hours paid for, as far as the work moved with them; GPUs and cores apart",
    ),
    "use": ("Use", "hours paid for that the work did not move with: more or less idle"),
    "mix": (
        "Mix",
        "hours that went to another machine or purchase option, as from on demand to spot",
    ),
    "commitments": ("Commitments", "what they take off, what of them is unused or paid upfront"),
    "other": ("Other charges", "charges without device time, and idle that was shared out"),
}
"""What moves a cost, by `apps.economics.variance.CAUSES`, in the order they are told, each explained."""

OLD_CAUSE_WORDS = CAUSE_WORDS | {
    "volume": ("Volume", "more or fewer useful hours"),
    "efficiency": ("Efficiency", "hours paid for each useful one"),
}
"""With those of reviews that were frozen while use was told by them."""


def option_words(option: str) -> str:
    """How something is bought, as people say it."""
    return OPTIONS.get(option, option)
