"""A worker's way with messages: one that cannot be read is put aside with a line, and the worker lives."""

from collections.abc import Callable
from typing import Any

from celery.worker.consumer import Consumer as CeleryConsumer

from controlplane.unreadable import UNREADABLE


class Consumer(CeleryConsumer):
    """Celery's own, which ends where the headers of a message are not what it takes them for."""

    def create_task_handler(self, *args: Any, **kwargs: Any) -> Callable[[Any], None]:
        """Return what takes a message; one that it cannot read is logged whole and never comes again."""
        take = super().create_task_handler(*args, **kwargs)

        def take_or_put_aside(message: Any) -> None:
            try:
                take(message)
            except UNREADABLE as problem:
                self.on_decode_error(message, problem)

        return take_or_put_aside
