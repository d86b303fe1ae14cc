"""What a client of an earlier OpenAPI document would miss in a later one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
LOWER_BOUNDS = ("minimum", "minLength", "minItems")
UPPER_BOUNDS = ("maximum", "maxLength", "maxItems")


@dataclass(frozen=True, slots=True)
class Sides:
    """The documents that `$ref`s point into."""

    old: dict[str, Any]
    new: dict[str, Any]


def losses(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Each path, field, choice or status that is gone, and each demand that is new."""
    sides = Sides(old, new)
    return sorted(
        loss
        for path, methods in old["paths"].items()
        for method in set(methods) & set(METHODS)
        for loss in _operation(
            f"{method} {path}", methods[method], new["paths"].get(path, {}).get(method), sides
        )
    )


def _operation(
    name: str, old: dict[str, Any], new: dict[str, Any] | None, sides: Sides
) -> Iterator[str]:
    if new is None:
        yield f"{name}: is gone"
        return
    yield from _parameters(name, old, new, sides)
    yield from _body(name, old.get("requestBody"), new.get("requestBody"), sides)
    for status, answer in old["responses"].items():
        later = new["responses"].get(status)
        if later is None:
            yield f"{name}: status {status} is gone"
            continue
        for media_type, content in answer.get("content", {}).items():
            found = later.get("content", {}).get(media_type)
            where = f"{name} {status}"
            if found is None:
                yield f"{where}: {media_type} is gone"
            else:
                yield from _told(where, content["schema"], found["schema"], sides)


def _parameters(name: str, old: dict[str, Any], new: dict[str, Any], sides: Sides) -> Iterator[str]:
    before = {(each["in"], each["name"]): each for each in old.get("parameters", [])}
    after = {(each["in"], each["name"]): each for each in new.get("parameters", [])}
    for key, parameter in before.items():
        if key not in after:
            yield f"{name}: parameter {key[1]} is gone"
        else:
            yield from _asked(f"{name} {key[1]}", parameter["schema"], after[key]["schema"], sides)
    for key, parameter in after.items():
        was = before.get(key, {}).get("required", False)
        if parameter.get("required", False) and not was:
            yield f"{name}: parameter {key[1]} is demanded"


def _body(
    name: str, old: dict[str, Any] | None, new: dict[str, Any] | None, sides: Sides
) -> Iterator[str]:
    if old is None:
        if new is not None and new.get("required", False):
            yield f"{name}: a body is demanded"
        return
    if new is None:
        yield f"{name}: the body is gone"
        return
    for media_type, content in old["content"].items():
        found = new["content"].get(media_type)
        if found is None:
            yield f"{name}: a body of {media_type} is gone"
        else:
            yield from _asked(f"{name} body", content["schema"], found["schema"], sides)


def _asked(where: str, old: Any, new: Any, sides: Sides) -> Iterator[str]:
    """What may be sent: nothing less than before, nothing more demanded."""
    old, new = _resolved(old, sides.old), _resolved(new, sides.new)
    yield from _narrower(where, old, new)
    for field in sorted(set(new.get("required", [])) - set(old.get("required", []))):
        yield f"{where}.{field}: is demanded"
    yield from _inner(where, old, new, sides, _asked)


def _told(where: str, old: Any, new: Any, sides: Sides) -> Iterator[str]:
    """What is answered: every field that was always there still is, and is no other thing."""
    old, new = _resolved(old, sides.old), _resolved(new, sides.new)
    for field in sorted(set(old.get("required", [])) - set(new.get("required", []))):
        yield f"{where}.{field}: is no longer always there"
    for kind in sorted(_kinds(new) - _kinds(old)) if _kinds(old) else ():
        yield f"{where}: may be {kind}"
    yield from _gone_choices(where, old, new)
    yield from _inner(where, old, new, sides, _told)


def _inner(where: str, old: Any, new: Any, sides: Sides, compare: Any) -> Iterator[str]:
    for field, schema in old.get("properties", {}).items():
        if field not in new.get("properties", {}):
            yield f"{where}.{field}: is gone"
        else:
            yield from compare(f"{where}.{field}", schema, new["properties"][field], sides)
    if "items" in old and "items" in new:
        yield from compare(f"{where}[]", old["items"], new["items"], sides)


def _narrower(where: str, old: Any, new: Any) -> Iterator[str]:
    for kind in sorted(_kinds(old) - _kinds(new)) if _kinds(new) else ():
        yield f"{where}: may no longer be {kind}"
    yield from _gone_choices(where, old, new)
    for bound in LOWER_BOUNDS:
        if new.get(bound, float("-inf")) > old.get(bound, float("-inf")):
            yield f"{where}: {bound} is higher"
    for bound in UPPER_BOUNDS:
        if new.get(bound, float("inf")) < old.get(bound, float("inf")):
            yield f"{where}: {bound} is lower"
    if new.get("pattern", old.get("pattern")) != old.get("pattern"):
        yield f"{where}: pattern differs"


def _gone_choices(where: str, old: Any, new: Any) -> Iterator[str]:
    if "enum" in new:
        for choice in old.get("enum", []):
            if choice not in new["enum"]:
                yield f"{where}: {choice!r} is gone"
        if "enum" not in old:
            yield f"{where}: only some values are left"


def _kinds(schema: Any) -> set[str]:
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _resolved(schema: Any, document: dict[str, Any]) -> dict[str, Any]:
    """The schema behind `$ref`s, with alternatives (a thing or null) folded into one."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    folded = {
        name: value for name, value in schema.items() if name not in {"oneOf", "anyOf", "allOf"}
    }
    kinds = _kinds(folded)
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        inner = _resolved(part, document)
        kinds |= _kinds(inner)
        folded = {**inner, **folded}
    return folded | ({"type": sorted(kinds)} if kinds else {})
