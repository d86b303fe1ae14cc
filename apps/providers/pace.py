"""How fast a cloud is asked."""

import time
from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """Lets no more than `per_second` calls go; the first goes at once."""

    per_second: float
    next_at: float = 0.0

    def wait(self) -> None:
        """Until the next call may go."""
        delay = self.next_at - time.monotonic()
        if delay > 0:
            time.sleep(delay)
        self.next_at = time.monotonic() + 1 / self.per_second
