"""The names of the keys of the cube, and which keys a name stands for."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import unquote

from apps.accounts import queries as accounts
from apps.accounts.queries import Viewer
from apps.economics.refusal import Refusal
from apps.economics.serving import SERVICE_KINDS
from apps.economics.states import State
from apps.fleet import queries as fleet
from apps.ledger.models import ChargeKind, Status
from apps.ledger.queries.cube.dimensions import Dimension, dimensions
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.sources import NO_WORKLOAD, TAG
from apps.ledger.queries.cube.sums import CubeAnswer, CubeKey
from apps.workloads import queries as workloads

NONE = "none"
"""What stands for costs that have none of a dimension, where it is filtered by."""
LARGEST_ID = 2**63 - 1


class KeyNotKnown(Refusal):
    """A filter names what there is not, or what the viewer does not see."""


@dataclass(frozen=True, slots=True)
class CubeNames:
    """The names of an answer's keys by dimension; `split`: of which jobs that have none stand apart."""

    of: Mapping[str, Mapping[Key, str]]
    others: Mapping[str, int]
    dimensions: Mapping[str, Dimension]
    split: str = ""

    def text(self, dimension: str, key: CubeKey) -> str:
        """Return the name of a group: its own, what it is without, or how many others it is."""
        definition = self.dimensions[dimension]
        if key.is_other:
            count = self.others.get(dimension, 0)
            return f"Other {definition.label.lower()}s ({count:,})"
        if dimension == "workload" and key.value == NO_WORKLOAD:
            return "No workload"
        if key.value is None:
            return "Not held by a job" if dimension == self.split else definition.without
        if isinstance(key.value, date):
            return key.value.isoformat()
        return self.of.get(dimension, {}).get(key.value, str(key.value))

    def filter_text(self, dimension: str, key: CubeKey) -> str:
        """The word that filters by this group; empty for the others, which are many."""
        if key.is_other or (dimension == self.split and not key.value):
            # Both have no workload: `none` asks for them together.
            return ""
        if key.value is None:
            return NONE
        if dimension == "job":
            return str(key.value)
        return filter_word(self.text(dimension, key))


def filter_word(name: str) -> str:
    """A name as a filter has it: filters part names by comma, and `none` stands for no name."""
    word = name.replace("%", "%25").replace(",", "%2c")
    return f"%{ord(word[0]):02x}{word[1:]}" if word == NONE else word


def names_of(answer: CubeAnswer) -> CubeNames:
    """The names of every key in an answer, each table read once and only where it is asked for."""
    names_by_dimension: dict[str, Mapping[Key, str]] = {}
    for place, name in enumerate(answer.question.group_by):
        # Keys that are words are their own names.
        keys = {row.keys[place].value for row in answer.rows}
        ids = [key for key in keys if isinstance(key, int)]
        names_by_dimension[name] = dict(NAMES[name](ids).items()) if ids else {}
    split = "workload" if answer.question.splits_workload else ""
    return CubeNames(names_by_dimension, answer.others, dimensions(), split)


def keys_named(dimension: str, texts: Sequence[str], viewer: Viewer) -> frozenset[Key]:
    """The keys that these names stand for; refuses KeyNotKnown. `none`: what has none of it."""
    wanted = [unquote(text) for text in texts if text != NONE]
    keys_by_name = named_keys(dimension, viewer)
    if keys_by_name is None:
        keys = _look_up_keys(dimension, wanted, viewer)
    else:
        for text in wanted:
            if text not in keys_by_name:
                raise KeyNotKnown(dimension, f"there is no {_noun_of(dimension)} named {text!r}")
        keys = [key for text in wanted for key in keys_by_name[text]]
    return frozenset([*keys, *([None] if len(wanted) < len(texts) else [])])


def named_keys(dimension: str, viewer: Viewer) -> Mapping[str, Collection[Key]] | None:
    """Every name of a dimension with its keys, as far as the viewer sees; None: they are many."""
    if dimension in ("team", "cost_centre"):
        visible_teams = [team for team in accounts.teams() if viewer.sees_team(team.id)]
        if dimension == "team":
            return {team.name: [team.id] for team in visible_teams}
        return {team.cost_centre: [team.cost_centre] for team in visible_teams if team.cost_centre}
    if dimension == "cluster":
        return {cluster.name: [cluster.id] for cluster in fleet.clusters().values()}
    if dimension in ("pool", "provider", "region", "gpu_model", "purchase_option"):
        return _names_of_pools(dimension)
    if dimension in ("workload", "service"):
        return _workload_keys(dimension, viewer)
    if dimension == "state":
        return {state.name.lower(): [int(state)] for state in State}
    if dimension in ("kind", "status"):
        words = ChargeKind.values if dimension == "kind" else Status.values
        return {word: [word] for word in words}
    return None


def _names_of_pools(dimension: str) -> Mapping[str, Collection[Key]]:
    pools = fleet.pools().values()
    if dimension == "pool":
        return {pool.name: [pool.id] for pool in pools}
    texts = {str(getattr(pool, dimension)) for pool in pools}
    return {text: [text] for text in sorted(texts) if text}


def _workload_keys(dimension: str, viewer: Viewer) -> Mapping[str, Collection[Key]]:
    """Two teams may each have a workload of one name."""
    ids: dict[str, list[Key]] = {}
    for workload in workloads.workloads().values():
        is_asked = dimension == "workload" or workload.kind in SERVICE_KINDS
        if is_asked and viewer.sees_team(workload.team_id):
            ids.setdefault(workload.name, []).append(workload.id)
    return ids


def _look_up_keys(dimension: str, texts: Sequence[str], viewer: Viewer) -> list[Key]:
    """Keys of names that are too many to list: jobs by their id, runs by their key."""
    if dimension == "job":
        return [_job_id(text) for text in texts]
    if dimension == "node":
        nodes = fleet.node_ids_named(texts)
        _refuse_missing(dimension, texts, nodes)
        return [node_id for of_name in nodes.values() for node_id in of_name]
    if dimension == "run":
        runs = workloads.runs_of_keys(texts)
        # To who sees a part of the costs a run of others is as if there were none: so are both.
        if viewer.sees_everything:
            _refuse_missing(dimension, texts, runs)
        return [run_id for of_name in runs.values() for run_id in of_name]
    return list(texts)


def _refuse_missing(dimension: str, texts: Sequence[str], matches: Collection[str]) -> None:
    for text in texts:
        if text not in matches:
            raise KeyNotKnown(dimension, f"there is no {dimension} named {text!r}")


def _job_id(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) <= LARGEST_ID:
        raise KeyNotKnown("job", f"{text!r} is no job's number")
    return int(text)


def _workload_names(_: Collection[int]) -> dict[int, str]:
    return {workload.id: workload.name for workload in workloads.workloads().values()}


NAMES: Mapping[str, Callable[[Collection[int]], Mapping[int, str]]] = {
    "team": lambda _: {team.id: team.name for team in accounts.teams()},
    "cluster": lambda _: {cluster.id: cluster.name for cluster in fleet.clusters().values()},
    "pool": lambda _: {pool.id: pool.name for pool in fleet.pools().values()},
    "workload": _workload_names,
    "service": _workload_names,
    "state": lambda _: {int(state): state.name.lower() for state in State},
    "job": lambda ids: {
        job.id: f"{job.raw_id} {job.name}".strip() for job in workloads.jobs(ids).values()
    },
    "run": workloads.run_keys,
    "node": fleet.node_names,
}


def _noun_of(dimension: str) -> str:
    label = dimensions()[dimension].label
    return label if label.startswith(("GPU", TAG)) else label.lower()
