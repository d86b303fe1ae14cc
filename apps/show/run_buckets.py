"""Words and colours of where a training run's time went; the same on every page."""

from collections.abc import Mapping, Sequence

from apps.economics.run_time import Bucket
from apps.show.strip import Strip, strip_of
from apps.show.words import StateWords

# In the order in which they are stacked and listed: progress first, what is not known last.
BUCKETS: Mapping[Bucket, StateWords] = {
    Bucket.PRODUCTIVE: StateWords(
        "run_productive", "Productive", "Training steps whose result was kept, and evaluation."
    ),
    Bucket.COMMUNICATION: StateWords(
        "run_communication", "Communication", "GPUs waited for what other GPUs sent them."
    ),
    Bucket.CHECKPOINT: StateWords(
        "run_checkpoint", "Checkpoint", "Training stood still while a checkpoint was saved."
    ),
    Bucket.STARTUP: StateWords(
        "run_startup", "Startup", "From the start of a process to its first step."
    ),
    Bucket.DATA_WAIT: StateWords("run_data_wait", "Data wait", "GPUs waited for training data."),
    Bucket.CAPACITY_WAIT: StateWords(
        "run_capacity_wait",
        "Capacity wait",
        "It waited for GPUs: in the queue, or holding some until the rest came.",
    ),
    Bucket.RECOVERY: StateWords(
        "run_recovery", "Recovery", "After an interruption, until training went on."
    ),
    Bucket.LOST: StateWords(
        "run_lost", "Lost and redone", "Steps that an interruption undid; they were done again."
    ),
    Bucket.FAILED: StateWords(
        "run_failed", "Failed", "An attempt that failed, and left nothing to go on from."
    ),
    Bucket.DIVERGED: StateWords(
        "run_diverged",
        "Diverged",
        "Steps after the reported loss was no finite number any more, or all that was learned was lost.",
    ),
    Bucket.IDLE_AFTER_END: StateWords(
        "run_idle_after_end",
        "Idle after the end",
        "Training was over, and its job still held the GPUs.",
    ),
    Bucket.UNTOLD: StateWords(
        "run_untold",
        "Not reported",
        "What this time was spent on was not reported; it is not counted as lost.",
        is_hatched=True,
    ),
}
NO_PROGRESS = tuple(
    bucket for bucket in BUCKETS if bucket not in {Bucket.PRODUCTIVE, Bucket.UNTOLD}
)
"""Time that was reported not to have brought training further."""


_SAID = {
    Bucket.PRODUCTIVE: "productive time",
    Bucket.LOST: "work lost and redone",
    Bucket.FAILED: "failed attempts",
    Bucket.DIVERGED: "training after the loss went wrong",
    Bucket.IDLE_AFTER_END: "idle time after the end",
    Bucket.UNTOLD: "time not reported",
}


def in_a_sentence(bucket: Bucket) -> str:
    """The bucket as a noun."""
    return _SAID.get(bucket, BUCKETS[bucket].label.lower())


def no_progress(by_bucket: Mapping[Bucket, int]) -> int:
    """Return the part of amounts by bucket that brought training no further."""
    return sum(by_bucket.get(bucket, 0) for bucket in NO_PROGRESS)


def strip_of_buckets(by_bucket: Mapping[Bucket, int]) -> Strip | None:
    """A strip of amounts; None where there is nothing to divide."""
    return strip_of([(words, by_bucket.get(bucket, 0)) for bucket, words in BUCKETS.items()])


def in_order(by_bucket: Sequence[int | None]) -> dict[Bucket, int]:
    """Amounts that are kept in the order of Bucket, by bucket; what is not known is left out."""
    return {
        bucket: amount
        for bucket, amount in zip(Bucket, by_bucket, strict=False)
        if amount is not None
    }
