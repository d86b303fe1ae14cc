"""The file of a copy: a tar whose first member says what it is and whose last has the digest of every other.

Content is packed in parts of a few megabytes, each a member and a zstd frame of its own, so that it is written and read
as a stream, and a part that is damaged is named (docs/decisions/0235-a-copy-is-a-tar-of-parts.md).
"""

import io
import json
import tarfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Protocol, cast

import zstandard

from controlplane.copies.members import OF_DIGESTS, OF_MANIFEST, CopyDamaged, Json, check_keys
from controlplane.copies.refusal import CopyRefused

FORMAT = 1
MANIFEST, DIGESTS = "manifest.json", "digests.json"
PART_BYTES = 4 * 1024 * 1024
LEVEL = 3
PACKERS = 2
# A part is never larger, so that a file made to harm cannot fill the memory.
LARGEST_PART = 64 * 1024 * 1024
LARGEST_MEMBER = 128 * 1024 * 1024


class WrittenTo(Protocol):
    """What a copy is written to: a file, or a draft of a stored one."""

    def write(self, block: bytes, /) -> int:
        """Take some bytes."""

    def tell(self) -> int:
        """Return how many it took."""


@dataclass(slots=True)
class CopyWriter:
    """Writes the members of a copy one after the other; `finish` makes it a whole one."""

    out: WrittenTo
    written_at: float
    digests: dict[str, str] = field(default_factory=dict)
    packed_bytes: int = 0
    _tar: tarfile.TarFile = field(init=False)
    _pool: ThreadPoolExecutor = field(init=False)
    _packing: deque[tuple[str, Future[bytes]]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        # It writes and tells, and does no more with a file.
        out = cast("IO[bytes]", self.out)
        self._tar = tarfile.TarFile(fileobj=out, mode="w", format=tarfile.PAX_FORMAT)
        self._pool = ThreadPoolExecutor(PACKERS)

    def add_json(self, name: str, content: Json) -> None:
        """Add a member that people can read."""
        self._flush(0)
        self._add(name, json.dumps(content, indent=1, ensure_ascii=False).encode())

    def add_part(self, name: str, content: bytes) -> None:
        """Add a packed part; a processor of its own packs it."""
        self._packing.append((name, self._pool.submit(pack, content)))
        self._flush(PACKERS)

    @contextmanager
    def stream(self, name: str) -> Iterator["PartsWriter"]:
        """Yield what takes content of any size, in parts NAME/000001.zst and so on."""
        parts = PartsWriter(self, name)
        yield parts
        parts.end()

    def finish(self, content: Json) -> None:
        """Add the digests, with `content` beside them, and end the file."""
        self._flush(0)
        self._add(DIGESTS, json.dumps({**content, "members": self.digests}, indent=1).encode())
        self._tar.close()
        self._pool.shutdown()

    def abandon(self) -> None:
        """End what packs; the file is no copy."""
        self._pool.shutdown(cancel_futures=True)

    def _flush(self, most: int) -> None:
        while len(self._packing) > most:
            name, packed = self._packing.popleft()
            self._add(name, packed.result())

    def _add(self, name: str, content: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = len(content), self.written_at, 0o600
        self._tar.addfile(member, io.BytesIO(content))
        self.packed_bytes += len(content)
        if name != DIGESTS:
            self.digests[name] = sha256(content).hexdigest()


@dataclass(slots=True)
class PartsWriter:
    """Gathers bytes until a part is full."""

    writer: CopyWriter
    name: str
    parts: int = 0
    _waiting: list[bytes] = field(default_factory=list)
    _size: int = 0

    def write(self, block: bytes) -> None:
        """Take some bytes."""
        self._waiting.append(block)
        self._size += len(block)
        if self._size >= PART_BYTES:
            self.end()

    def end(self) -> None:
        """Write what waits as a part."""
        if self._waiting:
            content = b"".join(self._waiting)
            for start in range(0, len(content) or 1, LARGEST_PART):
                self._add(content[start : start + LARGEST_PART])
            self._waiting, self._size = [], 0

    def _add(self, content: bytes) -> None:
        self.parts += 1
        self.writer.add_part(f"{self.name}/{self.parts:06}.zst", content)


@dataclass(frozen=True, slots=True)
class Member:
    """A member as it was read: its name, and what it holds, unpacked where it is a part."""

    name: str
    content: bytes

    @property
    def stream_name(self) -> str:
        """The name that its parts share."""
        return self.name.rpartition("/")[0]

    @property
    def part(self) -> int:
        """Its number among the parts, from 1; refuses CopyDamaged."""
        number = self.name.rpartition("/")[2].removesuffix(".zst")
        if not number.isascii() or not number.isdigit():
            raise CopyDamaged(f"{self.name}: no member of a copy is called so")
        return int(number)


@dataclass(slots=True)
class CopyReader:
    """Reads a copy as a stream: the manifest at once, members as they come, and at the end whether it was whole."""

    source: IO[bytes]
    manifest: Json = field(init=False)
    digests: Json = field(default_factory=dict)
    _tar: tarfile.TarFile = field(init=False)
    _seen: dict[str, str] = field(default_factory=dict)
    _last: str = ""

    def __post_init__(self) -> None:
        """Refuses CopyDamaged where it is no copy of Runrate, and CopyRefused where it is of a later format."""
        try:
            self._tar = tarfile.open(fileobj=self.source, mode="r|")  # noqa: SIM115  # as long as the source
        except (tarfile.TarError, EOFError, OSError) as problem:
            raise CopyDamaged(f"this is no copy that Runrate made: {problem}") from problem
        first = self._next()
        if first is None or first.name != MANIFEST:
            raise CopyDamaged(
                f"this is no copy that Runrate made: it does not begin with {MANIFEST}"
            )
        self.manifest = json_of(first)
        made_as = self.manifest.get("format")
        if not isinstance(made_as, int):
            raise CopyDamaged(f"{MANIFEST}: it does not say which format the copy has")
        if made_as > FORMAT:
            raise CopyRefused(
                f"the copy has format {made_as}, and this Runrate reads {FORMAT}: bring it back with the version that made it, {self.manifest.get('runrate')}"
            )
        check_keys(MANIFEST, self.manifest, OF_MANIFEST)

    def members(self) -> Iterator[Member]:
        """Yield every member after the manifest; refuses CopyDamaged, at the latest at the end."""
        while (member := self._next()) is not None:
            if member.name == DIGESTS:
                self.digests = check_keys(DIGESTS, json_of(member), OF_DIGESTS)
                self._check_members()
                return
            yield member
        raise CopyDamaged(
            f"the file ends after {self._last}, without {DIGESTS}: it was cut off, or the member after that one is damaged"
        )

    def _next(self) -> Member | None:
        try:
            info = self._tar.next()
            if info is None:
                return None
            name = info.name
            if not info.isfile() or info.size > LARGEST_MEMBER:
                raise CopyDamaged(f"{name}: no member of a copy is like this")
            opened = self._tar.extractfile(info)
            packed = opened.read() if opened else b""
        except (tarfile.TarError, EOFError, OSError, UnicodeDecodeError) as problem:
            raise CopyDamaged(
                f"the member after {self._last or 'the start'}: {problem}"
            ) from problem
        if len(packed) < info.size:
            raise CopyDamaged(f"{name}: the file was cut off in it")
        self._last = name
        if name != DIGESTS:
            if name in self._seen:
                raise CopyDamaged(f"{name}: it is there twice")
            self._seen[name] = sha256(packed).hexdigest()
        return Member(name, unpack(name, packed) if name.endswith(".zst") else packed)

    def _check_members(self) -> None:
        expected = self.digests["members"]
        for name, digest in self._seen.items():
            if expected.get(name) != digest:
                raise CopyDamaged(f"{name}: it is not what was written when the copy was made")
        missing = [name for name in expected if name not in self._seen]
        if missing:
            raise CopyDamaged(f"{missing[0]}: it is missing")


def pack(content: bytes) -> bytes:
    """Return a zstd frame with a checksum."""
    return zstandard.ZstdCompressor(LEVEL, write_checksum=True).compress(content)


def unpack(name: str, packed: bytes) -> bytes:
    """Return what a frame holds; refuses CopyDamaged."""
    try:
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= LARGEST_PART:
            raise CopyDamaged(f"{name}: no part of a copy is that large")
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=LARGEST_PART)
    except zstandard.ZstdError as problem:
        raise CopyDamaged(f"{name}: it is damaged ({problem})") from problem


def json_of(member: Member) -> Json:
    """Return what a member that people can read holds; refuses CopyDamaged."""
    try:
        content = json.loads(member.content)
    except (ValueError, RecursionError) as problem:
        raise CopyDamaged(f"{member.name}: it is damaged ({problem})") from problem
    if not isinstance(content, dict):
        raise CopyDamaged(f"{member.name}: it is damaged")
    return content
