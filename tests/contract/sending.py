"""An example, sent in the world that was made for it."""

import json
from typing import Any
from urllib.parse import urlencode

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.apps.console.people import signed_in
from tests.contract.world import World, with_world

FOR_PEOPLE = {
    ("post", "/api/v1/closes"),
    ("post", "/api/v1/bills/imports/{import_id}/accept"),
    ("post", "/api/v1/bills/twins/{bill_twin_id}/decide"),
    ("post", "/api/v1/capacity-requests/{capacity_request_id}/decision"),
}
"""What no token may do: asked by somebody of finance who signed in."""
OF_ANOTHER = {
    "/api/v1/bills/imports/{import_id}/call-off": {"import_id": "waiting_import_id"},
    "/api/v1/bills/imports/{import_id}/read-again": {"import_id": "failed_import_id"},
}
"""Where what is asked for has to be in another state than everywhere else: which of what was made it is."""


def asked(path: str, operation: dict[str, Any], **more: str) -> str:
    """The path with those query parameters that must be given, as the document shows them."""
    needed = {
        each["name"]: each["schema"]["examples"][0]
        for each in operation.get("parameters", ())
        if each["in"] == "query" and each.get("required")
    }
    query = urlencode({**needed, **more})
    return f"{path}?{query}" if query else path


def send(world: World, path: str, method: str, body: Any) -> Any:
    """As the world's token, or as somebody of finance; a world without a secret has no credential."""
    others = {name: world.paths[made] for name, made in OF_ANOTHER.get(path, {}).items()}
    address = path.format(**{**world.paths, **others})
    client, headers = Client(), world.headers if world.secret else {}
    if world.secret and (method, path) in FOR_PEOPLE:
        client, headers = signed_in("finance"), {}
    told = {} if body is None else {"data": with_world(body, world)}
    if isinstance(body, dict) and "file" in body:
        file = SimpleUploadedFile("july.csv", body["file"].encode())
        told["data"] = {**told["data"], "file": file}
    elif method != "get":
        if isinstance(body, str):
            # Of what is text Django's client takes it to be JSON already.
            told["data"] = json.dumps(body)
        told["content_type"] = "application/json"
    return getattr(client, method)(address, headers=headers, **told)
