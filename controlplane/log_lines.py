"""How a line of the log is written: key=value by default, JSON by setting; one line each."""

import logging
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any, cast

from apps.logs.context import current_request


@contextmanager
def _left_out(name: str) -> Iterator[None]:
    """In the block, what would be better with this module has to do without."""
    there = sys.modules.get(name)
    sys.modules[name] = there or cast("ModuleType", None)
    try:
        yield
    finally:
        if not there:
            del sys.modules[name]


# Its console, which nothing here uses, would load rich: a tenth of what a command takes.
with _left_out("rich"):
    import structlog

ORDER = ["timestamp", "level", "event", "who", "count", "ms", "request_id"]
OURS = "runrate"
MODULES = ("apps.", "controlplane.")
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


class LineFormatter(structlog.stdlib.ProcessorFormatter):
    """Lines of ours are finished; those of libraries get the same form, and a traceback below."""

    def __init__(self, style: str) -> None:
        super().__init__(
            processors=[
                self.remove_processors_meta,
                structlog.processors.format_exc_info,
                _renderer(style),
            ],
            foreign_pre_chain=[*ANY_LINE, _read_fields],
            pass_foreign_args=True,
        )

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        return str(record.msg) if record.name == OURS else super().format(record)


class FinishedLine:
    """Hands finished lines to the handlers of Python's own logging; looks up no caller."""

    def debug(self, line: str) -> None:
        """For whoever looks for more."""
        _hand_on(logging.DEBUG, line)

    def info(self, line: str) -> None:
        """For the record."""
        _hand_on(logging.INFO, line)

    def warning(self, line: str) -> None:
        """For whoever has to look."""
        _hand_on(logging.WARNING, line)


def configure(style: str) -> None:
    """Have structlog write lines of this style, from the level on that the root logger has."""
    structlog.configure(
        processors=[_only_wanted, *ANY_LINE, _renderer(style)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=lambda *_: FinishedLine(),
        cache_logger_on_first_use=True,
    )


ANY_LINE: list[Any] = [
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
ROOT = logging.getLogger()


def _only_wanted(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    if not ROOT.isEnabledFor(LEVELS[method]):
        raise structlog.DropEvent
    return event


_GATHERED: ContextVar[list[tuple[int, str]] | None] = ContextVar("gathered_lines", default=None)


@contextmanager
def written_together() -> Iterator[None]:
    """The finished lines of the block go out with one write when it ends.

    Each write lets other threads take the interpreter, which then has to be waited for: ten times
    what making the line costs, where many small things are done at once.
    """
    lines: list[tuple[int, str]] = []
    mark = _GATHERED.set(lines)
    try:
        yield
    finally:
        _GATHERED.reset(mark)
        if lines:
            _hand_on(max(level for level, _ in lines), "\n".join(line for _, line in lines))


def _hand_on(level: int, line: str) -> None:
    gathered = _GATHERED.get()
    if gathered is None:
        ROOT.handle(logging.LogRecord(OURS, level, "", 0, line, None, None))
    else:
        gathered.append((level, line))


def _read_fields(
    logger: Any, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """A line of a module of ours, `event key=%s …`, by its fields; of a library with its name."""
    record, values = event["_record"], event.pop("positional_args", ())
    event["logger"] = record.name
    name, *keys = str(record.msg).replace("=%s", "").split() or [""]
    if record.name.startswith(MODULES) and len(keys) == len(values):
        event.update({"event": name, **dict(zip(keys, map(str, values), strict=True))})
        if request_id := current_request():
            event["request_id"] = request_id
    return event


def _renderer(style: str) -> Any:
    return structlog.processors.JSONRenderer(default=str) if style == "json" else _key_value


def _key_value(logger: Any, method: str, event: MutableMapping[str, Any]) -> str:
    traceback = event.pop("exception", "")
    line: str = _LOGFMT(logger, method, event)
    return f"{line}\n{traceback}" if traceback else line


_LOGFMT = structlog.processors.LogfmtRenderer(
    key_order=ORDER, drop_missing=True, bool_as_flag=False
)
