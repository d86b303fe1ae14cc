"""Remarks on what of a row of jobs is not understood, in a sentence that says what to do."""

from apps.economics.gpu_slices import slice_share

UNTRACKED = "AllocTRES without gres/gpu"
"""A remark of a row of a cluster whose accounting tracks no GPUs."""
GPUS_LEFT_OUT = "allocations[].gpus left out"
"""A remark of an event over REST that says where a job runs and not how many GPUs it holds there."""
NO_GPU_COLUMN = "no column of GPUs"
"""A remark of a table whose mapping names no column that could say it."""
EMPTY_CELL = " is empty"
"""How a remark ends of a table's row whose column of GPUs says nothing."""
REPLACED = "\N{REPLACEMENT CHARACTER}"
"""What stands for bytes that are no UTF-8."""
NOT_UTF8 = "letters that are no UTF-8"
"""A remark of a row of a file in another encoding, as Latin-1: its names are not what they were."""
DOUBLED = "two jobs on all GPUs of a node"
"""A remark of a node: its time is divided between them, which the scheduler cannot have meant."""
SLURM_LINE = "AccountingStorageTRES=gres/gpu"
_UNKNOWN_GPUS = "how many GPUs these jobs held is unknown, and what else their nodes have is not called unallocated"


_IN_WORDS = {
    UNTRACKED: (
        "the accounting counts no GPUs, so how many these jobs held is unknown, and what else "
        f"their nodes have is not called unallocated: set {SLURM_LINE} in slurm.conf"
    ),
    GPUS_LEFT_OUT: f"{_UNKNOWN_GPUS}: send gpus with each allocation, 0 where it holds none",
    NO_GPU_COLUMN: (
        f"{_UNKNOWN_GPUS}: name columns.gpus in the mapping, or say no_gpus = true where none of "
        "its jobs holds any"
    ),
    NOT_UTF8: (
        "some letters are no UTF-8 (Latin-1, say) and were lost, so that names match no rule: save "
        "the file in UTF-8 and import it again"
    ),
    DOUBLED: (
        "two jobs of one scheduler held all of its GPUs at once: its time is divided between "
        "them; ask the accounting which of the two is right"
    ),
}


def remark_in_words(remark: str) -> str:
    """Return what a remark of a row means for its job, and what would help."""
    if remark in _IN_WORDS:
        return _IN_WORDS[remark]
    if remark.endswith(EMPTY_CELL):
        return f"{remark}: {_UNKNOWN_GPUS}; write 0 where a job holds none"
    if remark.startswith("gres/gpu:"):
        return (
            f"{remark} is a slice whose part of a GPU is not known: how many GPUs it is is unknown"
        )
    if remark.startswith("gres/") and slice_share(remark.removeprefix("gres/")) is None:
        return f"{remark} is a part of a GPU that nobody can add up: how many GPUs it is is unknown"
    return f"{remark} is not understood, and counts for nothing"
