"""A mailbox on loopback, and what it took."""

from typing import Any


class Mailbox:
    """What a server on loopback took."""

    def __init__(self) -> None:
        self.got = list[tuple[list[str], bytes]]()
        self.port = 0

    async def handle_DATA(  # noqa: N802  # its name for aiosmtpd
        self, server: Any, session: Any, envelope: Any
    ) -> str:
        """Take it."""
        self.got.append((envelope.rcpt_tos, envelope.content))
        return "250 taken"
