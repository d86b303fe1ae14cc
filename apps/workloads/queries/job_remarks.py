"""What of a row of jobs is not understood, in a sentence that says what to do."""

UNTRACKED = "AllocTRES without gres/gpu"
"""A remark of a row of a cluster whose accounting tracks no GPUs."""
DOUBLED = "two jobs on all GPUs of a node"
"""A remark of a node: its time is divided between them, which the scheduler cannot have meant."""
SLURM_LINE = "AccountingStorageTRES=gres/gpu"


def remark_in_words(remark: str) -> str:
    """Return what a remark of a row means for its job, and what would help."""
    if remark == UNTRACKED:
        return (
            "the accounting counts no GPUs, so how many these jobs held is unknown, and what else "
            f"their nodes have is not called unallocated: set {SLURM_LINE} in slurm.conf"
        )
    if remark == DOUBLED:
        return (
            "two jobs of one scheduler held all of its GPUs at once: its time is divided between "
            "them; ask the accounting which of the two is right"
        )
    if remark.startswith("gres/gpu:"):
        return (
            f"{remark} is a slice whose part of a GPU is not known: how many GPUs it is is unknown"
        )
    if remark == "gres/mps":
        return "gres/mps is a part of a GPU that nobody can add up: how many GPUs it is is unknown"
    return f"{remark} is not understood, and counts for nothing"
