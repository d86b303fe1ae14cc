"""What a training script measures for itself, beside what the callback tells."""

import json
import time
from contextlib import contextmanager


class Stopwatch:
    """Seconds by name, kept by hand around what really happens."""

    def __init__(self):
        self.seconds = {}
        self._under_way = []

    @contextmanager
    def of(self, name):
        """What passes inside; inside another measure it is no part of that one."""
        began = time.perf_counter()
        self._under_way.append(0.0)
        try:
            yield
        finally:
            passed = time.perf_counter() - began
            inside = self._under_way.pop()
            self.seconds[name] = self.seconds.get(name, 0.0) + passed - inside
            if self._under_way:
                self._under_way[-1] += passed

    def batches(self, loader, seconds):
        """Those of a loader that takes so long for each."""
        batches = iter(loader)
        while True:
            with self.of("data"):
                time.sleep(seconds)
                try:
                    batch = next(batches)
                except StopIteration:
                    return
            yield batch

    def tell(self, **more):
        """The last line of the script."""
        print(json.dumps({"seconds": self.seconds, **more}), flush=True)
