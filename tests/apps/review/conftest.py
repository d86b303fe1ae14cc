"""A mail server for tests of what is sent."""

import socket
from collections.abc import Iterator

import pytest
from aiosmtpd.controller import Controller

from tests.apps.review.mailbox import Mailbox


@pytest.fixture
def smtp() -> Iterator[Mailbox]:
    """A real SMTP server."""
    box = Mailbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        box.port = free.getsockname()[1]
    server = Controller(box, hostname="127.0.0.1", port=box.port)
    server.start()
    yield box
    server.stop()
