"""The REST surface only gains: what clients of the last release rely on stays."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.described import document
from tests.contract.released import losses

RELEASED = Path(__file__).parent / "openapi.json"


def test_nothing_of_the_last_release_is_lost() -> None:
    assert losses(json.loads(RELEASED.read_text()), document()) == []


def test_what_goes_with_the_next_release_is_deprecated() -> None:
    paths = document()["paths"]

    assert paths["/api/v1/findings"]["get"]["deprecated"]
    assert "deprecated" not in paths["/api/v1/anomalies"]["get"]


def body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def small() -> dict[str, Any]:
    """A document of one operation."""
    return {
        "paths": {
            "/nodes": {
                "post": {
                    "parameters": [{"in": "query", "name": "pool", "schema": {"type": "string"}}],
                    "requestBody": body(
                        {
                            "type": "object",
                            "required": ["name"],
                            "properties": {
                                "name": {"type": "string", "maxLength": 200},
                                "kind": {"enum": ["machine", "pool"], "type": "string"},
                            },
                        }
                    ),
                    "responses": {"201": body({"$ref": "#/components/schemas/Node"})},
                }
            }
        },
        "components": {
            "schemas": {
                "Node": {
                    "type": "object",
                    "required": ["id", "ended_at"],
                    "properties": {
                        "id": {"type": "integer"},
                        "ended_at": {"type": ["string", "null"]},
                    },
                }
            }
        },
    }


def sent(later: dict[str, Any]) -> Any:
    operation = later["paths"]["/nodes"]["post"]
    return operation["requestBody"]["content"]["application/json"]["schema"]


def answered(later: dict[str, Any]) -> Any:
    return later["components"]["schemas"]["Node"]


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "post /nodes: is gone": lambda later: later["paths"].pop("/nodes"),
    "post /nodes: parameter pool is gone": lambda later: later["paths"]["/nodes"]["post"].update(
        parameters=[]
    ),
    "post /nodes: status 201 is gone": lambda later: later["paths"]["/nodes"]["post"].update(
        responses={}
    ),
    "post /nodes body.kind: is demanded": lambda later: sent(later)["required"].append("kind"),
    "post /nodes body.kind: 'pool' is gone": lambda later: sent(later)["properties"]["kind"].update(
        enum=["machine"]
    ),
    "post /nodes body.name: maxLength is lower": lambda later: sent(later)["properties"][
        "name"
    ].update(maxLength=10),
    "post /nodes 201.id: is no longer always there": lambda later: answered(later).update(
        required=["ended_at"]
    ),
    "post /nodes 201.ended_at: is gone": lambda later: answered(later)["properties"].pop(
        "ended_at"
    ),
    "post /nodes 201.id: may be string": lambda later: answered(later)["properties"]["id"].update(
        type="string"
    ),
}


@pytest.mark.parametrize("loss", CHANGES)
def test_a_loss_is_seen(loss: str) -> None:
    later = copy.deepcopy(small())
    CHANGES[loss](later)
    assert losses(small(), later) == [loss]


def test_a_gain_is_none_of_ours_to_refuse() -> None:
    later = copy.deepcopy(small())
    sent(later)["properties"]["units"] = {"type": "integer"}
    sent(later)["properties"]["kind"]["enum"].append("rack")
    answered(later)["properties"]["units"] = {"type": "integer"}
    answered(later)["required"].append("units")
    later["paths"]["/pools"] = {}
    assert losses(small(), later) == []
