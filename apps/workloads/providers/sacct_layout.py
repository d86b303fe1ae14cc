"""Layout of a sacct file, which column is which: from its header, from --fields, or a named order."""

from dataclasses import dataclass

from apps.workloads.providers.job_record import FieldUnreadable

DELIMITER = "|"
# The order in which Open XDMoD's resource manager export asks sacct for its fields.
XDMOD = (
    "jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,"
    "elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname"
)
PRESETS = {"xdmod": tuple(XDMOD.split(","))}
NEEDED = ("state", "start", "end", "alloctres", "nodelist")
ASKED = (
    "TZ=UTC sacct -aDX -S 2026-11-01 -E now --parsable2 -o JobIDRaw,Cluster,Partition,Account,User,"
    "Submit,Start,End,State,NCPUS,AllocTRES,NodeList,JobName"
)
"""How the operator's page asks: sacct by itself prints neither times nor GPUs."""
FOR_PEOPLE = {"jobid", "state", "exitcode"}
"""Names in the first line of what sacct prints without --parsable2."""
# People write these; a delimiter inside one makes the row look too long.
FREE_TEXT = frozenset(
    {"jobname", "comment", "admincomment", "systemcomment", "submitline", "workdir", "wckey"}
)


class LayoutUnknown(ValueError):
    """Nothing says what the columns of this file are, or one that is needed is not among them."""


@dataclass(frozen=True, slots=True)
class SacctLayout:
    """The columns in order, lower case."""

    names: tuple[str, ...]
    header: str | None

    @property
    def has_header(self) -> bool:
        """Whether the file's first line names its columns."""
        return self.header is not None

    def is_header(self, text: str) -> bool:
        """A header again, as where files were put one behind the other."""
        return text.rstrip("\r\n") == self.header

    def cells(self, text: str) -> dict[str, str]:
        """The row by column name; refuses rows too short, too long, or with a zero byte."""
        if "\0" in text:
            raise FieldUnreadable("row", "holds a zero byte")
        parts = text.split(DELIMITER)
        surplus = len(parts) - len(self.names)
        if surplus == 1 and parts[-1] == "":  # sacct --parsable ends each row with a delimiter
            parts.pop()
        elif surplus > 0:
            parts = self._joined_free_text(parts, surplus)
        if len(parts) != len(self.names):
            raise FieldUnreadable("row", f"has {len(parts)} fields, not {len(self.names)}")
        return {name: part.strip() for name, part in zip(self.names, parts, strict=True)}

    def _joined_free_text(self, parts: list[str], surplus: int) -> list[str]:
        free = [place for place, name in enumerate(self.names) if name in FREE_TEXT]
        if len(free) != 1:
            return parts
        place = free[0]
        joined = DELIMITER.join(parts[place : place + surplus + 1])
        return [*parts[:place], joined, *parts[place + surplus + 1 :]]


def named_fields(text: str) -> tuple[str, ...]:
    """`--fields`: a preset's name, or sacct field names with or without widths (`JobName%30`)."""
    if text.strip().lower() in PRESETS:
        return PRESETS[text.strip().lower()]
    return tuple(part.partition("%")[0].strip().lower() for part in text.split(","))


def find_layout(first_line: str, *, fields: tuple[str, ...] | None) -> SacctLayout:
    """A header in the file wins over `fields`; without either, XDMoD's order where it fits."""
    first = first_line.rstrip("\r\n")
    parts = tuple(part.strip().lower() for part in first.removesuffix(DELIMITER).split(DELIMITER))
    if "state" in parts and ("jobidraw" in parts or "jobid" in parts):
        return _checked_layout(SacctLayout(parts, header=first))
    if fields is not None:
        return _checked_layout(SacctLayout(fields, header=None))
    if _looks_like_xdmod(parts):
        return SacctLayout(PRESETS["xdmod"], header=None)
    if first.lstrip().startswith(("{", "[")):
        raise LayoutUnknown(f"this is JSON, as sacct --json writes it; ask sacct for rows: {ASKED}")
    if set(first.lower().split()) >= FOR_PEOPLE or not first.strip("- "):
        raise LayoutUnknown(
            f"this is sacct's table for people, cut to widths; ask for rows: {ASKED}"
        )
    raise LayoutUnknown(
        f"the first line is no header and has {len(parts)} fields: name them with --fields, "
        "in the order given to sacct -o"
    )


def _looks_like_xdmod(parts: tuple[str, ...]) -> bool:
    names = PRESETS["xdmod"]
    if len(parts) < len(names):
        return False
    cells = dict(zip(names, parts, strict=False))
    return cells["jobidraw"].partition(".")[0].isdecimal() and "cpu=" in cells["alloctres"]


def _checked_layout(layout: SacctLayout) -> SacctLayout:
    missing = [name for name in NEEDED if name not in layout.names]
    if "jobidraw" not in layout.names and "jobid" not in layout.names:
        missing.append("jobidraw")
    if missing:
        raise LayoutUnknown(
            f"the file has no {', '.join(missing)}, which sacct prints when it is asked for them by "
            f"name: {ASKED}"
        )
    twice = {name for name in layout.names if layout.names.count(name) > 1}
    if twice:
        raise LayoutUnknown(f"named twice: {', '.join(sorted(twice))}")
    return layout
