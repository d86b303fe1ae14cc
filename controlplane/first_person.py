"""Where the first person comes in, as whoever starts the processes is told."""

from collections.abc import Sequence

from apps.accounts.queries.invitation_paths import first_person_path

EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - told apart, not listened on


def local_origin(listen: str) -> str:
    """How a browser of this machine reaches what listens there (host:port)."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    if host in EVERYWHERE:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def first_person_words(secret: str, listen: str, origins: Sequence[str]) -> str:
    """The page that lets the first person in: at the first of `origins` where a proxy has any."""
    path = first_person_path(secret)
    origin = origins[0].rstrip("/") if origins else local_origin(listen)
    return (
        f"Nobody can sign in yet. The first person comes in at {origin}{path}\n"
        f"Where you reach the console at another address, the same path is good there."
    )
