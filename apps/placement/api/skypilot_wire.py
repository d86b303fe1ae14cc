"""SkyPilot's wire: JSON in a string of JSON, both ways, and in it YAML of a task and of a configuration.

As SkyPilot 0.14.1 sends and reads it (`sky/admin_policy.py`). Inline secrets of a task come with it: nothing of a task is
logged or kept, and what is not read goes back as it came.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from apps.economics.refusal import Refusal

NEEDED = ("task", "skypilot_config", "request_name")


class SkyRequestNotUnderstood(Refusal):
    """A refusal: what came is no request for a policy."""


@dataclass(frozen=True, slots=True)
class SkyRequest:
    """A request: the task, the configuration as it came, and who asks for what; empty where nobody said.

    `is_of_client`: a client asks before it sends the task to its API server, which asks again.
    """

    task: dict[str, Any]
    config: str
    workspace: str
    name: str
    user: str
    is_of_client: bool
    is_dry_run: bool


def sky_request(sent: Any) -> SkyRequest:
    """A body that was parsed once, as JSON, into the text that holds the request. Refuses SkyRequestNotUnderstood."""
    try:
        body = json.loads(sent) if isinstance(sent, str) else None
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, Mapping) or not all(isinstance(body.get(name), str) for name in NEEDED):
        raise SkyRequestNotUnderstood(
            "", "this is no request of SkyPilot: a JSON string that holds JSON"
        )
    user = _yaml_mapping("user", body.get("user") or "")
    options = body.get("request_options")
    return SkyRequest(
        task=_yaml_mapping("task", body["task"]),
        config=body["skypilot_config"],
        workspace=str(
            _yaml_mapping("skypilot_config", body["skypilot_config"]).get("active_workspace") or ""
        ),
        name=body["request_name"],
        user=str(user.get("name") or user.get("id") or ""),
        is_of_client=body.get("at_client_side") is True,
        is_dry_run=isinstance(options, Mapping) and options.get("dryrun") is True,
    )


def sky_answer(task: Mapping[str, Any], config: str) -> str:
    """The text that holds the answer; the configuration goes back as it came."""
    text = yaml.safe_dump(dict(task), sort_keys=False, allow_unicode=True, width=10_000)
    return json.dumps({"task": text, "skypilot_config": config})


def _yaml_mapping(field: str, text: Any) -> dict[str, Any]:
    try:
        mapping = yaml.safe_load(text) if isinstance(text, str) else None
    except (yaml.YAMLError, ValueError, RecursionError) as refused:
        raise SkyRequestNotUnderstood(field, "is no YAML") from refused
    if mapping is None:
        return {}
    if not isinstance(mapping, dict):
        raise SkyRequestNotUnderstood(field, "is no mapping")
    return mapping
