"""The page of the log's events, made of the actions that write them."""

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import apps

EVENTS = "By app, the events of changes and passes in the [logs](logs.md); each has the name of its action."  # fmt: skip


def event_page(note: str) -> str:
    """Return the page of all events, by the app whose action writes them."""
    events: dict[str, set[str]] = {}
    for place, action in public_actions().items():
        event = getattr(action, "event", None)
        if event is not None:
            events.setdefault(place.split(".")[1], set()).add(event)
    rows = (
        f"| {app} | {', '.join(f'`{name}`' for name in sorted(events[app]))} |"
        for app in sorted(events)
    )
    table = "\n".join(("| app | events |", "|---|---|", *rows))
    return "\n\n".join(("# Events of the log", note, EVENTS, table)) + "\n"


@cache
def public_actions() -> Mapping[str, Callable[..., Any]]:
    """Return every public function that an actions package defines, by where it is."""
    functions: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.walk_packages(apps.__path__, "apps."):
        if ".actions" not in module.name:
            continue
        loaded = import_module(module.name)
        for name, value in vars(loaded).items():
            is_own = getattr(value, "__module__", "") == module.name
            if inspect.isfunction(value) and is_own and not name.startswith("_"):
                functions[f"{module.name}.{name}"] = value
    return functions
