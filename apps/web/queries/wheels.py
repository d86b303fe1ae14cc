"""The agent and the SDK as wheels, made of the checkout that this server runs from.

They are pure Python: a wheel of them is a zip with three files of metadata
(https://packaging.python.org/en/latest/specifications/binary-distribution-format/). The same source
is the same bytes, so that a hash names one version for good.
"""

import base64
import hashlib
import io
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

AGENTS = Path(__file__).resolve().parents[3] / "agents"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
WHEEL = "Wheel-Version: 1.0\nGenerator: runrate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
PLAIN_FILE = 0o100644 << 16


@dataclass(frozen=True, slots=True)
class Wheel:
    """One file to install; `sha256` in hexadecimal, as pip reads it behind an address."""

    name: str
    project: str
    version: str
    sha256: str
    content: bytes = field(repr=False)


@cache
def wheels() -> dict[str, Wheel]:
    """By file name: the agent's and the SDK's."""
    built_wheels = [_build_wheel(AGENTS / folder) for folder in ("agent", "sdk")]
    return {wheel.name: wheel for wheel in built_wheels}


def wheel_of(project: str) -> Wheel:
    """The wheel of `runrate-agent` or `runrate-sdk`; refuses KeyError."""
    return {wheel.project: wheel for wheel in wheels().values()}[project]


def install_command(server: str, project: str) -> str:
    """Installs it from this server, and nothing else of its name from anywhere."""
    wheel = wheel_of(project)
    return f"pip install '{server}/downloads/{wheel.name}#sha256={wheel.sha256}'"


def _build_wheel(folder: Path) -> Wheel:
    pyproject: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())
    project: dict[str, Any] = pyproject["project"]
    name, version = project["name"], project["version"]
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    files = dict(_sources(folder / "src"))
    wheel = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, place in wheel.get("force-include", {}).items():
        files |= {f"{place}/{name}": content for name, content in _sources(folder / source)}
    files[f"{info}/METADATA"] = _metadata(project, (folder / project["readme"]).read_text())
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/entry_points.txt"] = _entry_points(project["scripts"])
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    content = _zipped(files)
    digest = hashlib.sha256(content).hexdigest()
    return Wheel(f"{stem}-py3-none-any.whl", name, version, digest, content)


def _sources(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _metadata(project: Mapping[str, Any], readme: str) -> bytes:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    for extra, needed in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {requirement}; extra == '{extra}'" for requirement in needed]
    lines.append("Description-Content-Type: text/markdown")
    return ("\n".join(lines) + f"\n\n{readme}").encode()


def _entry_points(scripts: Mapping[str, str]) -> bytes:
    named = (f"{name} = {target}\n" for name, target in scripts.items())
    return ("[console_scripts]\n" + "".join(named)).encode()


def _record(files: Mapping[str, bytes], record_name: str) -> bytes:
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    return ("\n".join([*lines, f"{record_name},,"]) + "\n").encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, PLAIN_FILE
            archive.writestr(entry, content)
    return packed.getvalue()
