"""What a run did in some seconds, summed up as it happens: a step costs microseconds."""

from collections.abc import Mapping

MOST_STEP_TIMES = 256
NS_PER_MS = 1_000_000
Json = dict[str, object]


class Window:
    """Sums over some seconds of a run; times in nanoseconds of one clock, `wall_ms` is its start."""

    __slots__ = (
        *("began", "wall_ms", "steps", "first", "last", "tokens", "examples", "flops"),
        *("step_ns", "inside_ns", "phases", "step_times"),
    )

    def __init__(self, began: int, wall_ms: int) -> None:
        """Nothing has happened yet."""
        self.began = began
        self.wall_ms = wall_ms
        self.steps = 0
        self.first = -1
        self.last = -1
        self.tokens = 0
        self.examples = 0
        self.flops = 0.0
        self.step_ns = 0
        # What of the steps' time was spent in phases inside them.
        self.inside_ns = 0
        self.phases: dict[str, int] = {}
        self.step_times: list[int] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.steps and not self.phases

    def told(self, ended: int) -> Json:
        """As it is sent; times in milliseconds."""
        return {
            "starts_at_ms": self.wall_ms,
            "ends_at_ms": self.wall_ms + (ended - self.began) // NS_PER_MS,
            "steps": self.steps,
            "first_step": self.first if self.steps else None,
            "last_step": self.last if self.steps else None,
            "tokens": self.tokens,
            "examples": self.examples,
            "flops": self.flops,
            "productive_ms": (self.step_ns - self.inside_ns) // NS_PER_MS,
            "phases_ms": _in_ms(self.phases),
            "step_times_ms": [each / NS_PER_MS for each in self.step_times],
        }


def _in_ms(phases: Mapping[str, int]) -> dict[str, int]:
    return {name: spent // NS_PER_MS for name, spent in phases.items()}
