"""A team's costs by model: of the GPUs that its costs are of, and of the model APIs that it called."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from apps.console.kit.csv_file import CsvFile
from apps.console.kit.table import Table, TableSection
from apps.console.pages.api_spend.tables import MODELS, ModelCalls, model_calls, models_shown
from apps.console.pages.costs.question import CostQuery
from apps.console.pages.costs.sums import sums_of
from apps.console.pages.costs.tables import OWNER_KEYS, CostRow, cost_table
from apps.ledger.queries import States, StateSum
from apps.ledger.queries.api_spend import SpendQuery, spend
from apps.ledger.queries.cube import dimensions, filter_word
from apps.ledger.queries.cube.names import NONE
from apps.ledger.queries.cube.question import Key
from apps.ledger.queries.cube.states import state_sums

GPU_MODEL = "gpu_model"
StatesByKeys = Mapping[tuple[Key, ...], States]
API_MODELS = replace(
    MODELS,
    name="api-models",
    title="By API model",
    sort="api-sort",
    about="{said} of model APIs, each call at its own date and tier; calls without a price are in no amount",
)


def model_sections(
    cost_query: CostQuery,
    team_id: int,
    sums: StatesByKeys,
    total: CostRow,
    files: Mapping[str, CsvFile],
) -> list[TableSection]:
    """Return the sections of what each GPU model cost and how much of that was active, and each API model that was called.

    `sums` are of the team, with the GPU model for their last key.
    """
    context = cost_query.context
    tables = [
        _gpu_table(cost_query).section(
            _gpu_rows(cost_query, team_id, sums), context, total=total, states=total.sums.states,
            csv=files["by-gpu-model"],
        )
    ]  # fmt: skip
    calls = _api_calls(cost_query, team_id)
    if calls:
        table = models_shown(calls, API_MODELS)
        tables.append(table.section(calls, context, csv=files[API_MODELS.name]))
    return tables


def model_files(cost_query: CostQuery, team_id: int) -> Iterator[CsvFile]:
    """By GPU model and by API model."""
    name, context = cost_query.team_name(team_id), cost_query.context
    question = cost_query.question.of(team=[team_id]).by(GPU_MODEL)
    yield _gpu_table(cost_query).file(
        f"costs of {name} by GPU model",
        context,
        lambda: _gpu_rows(cost_query, team_id, state_sums(question)),
    )
    yield API_MODELS.file(
        f"costs of {name} by API model", context, lambda: _api_calls(cost_query, team_id)
    )


def _gpu_table(cost_query: CostQuery) -> Table[CostRow]:
    return cost_table(
        cost_query, "by-gpu-model", "GPU model", (*OWNER_KEYS, GPU_MODEL), "By GPU model"
    )


def states_of_key(sums: StatesByKeys, place: int) -> dict[Key, list[StateSum]]:
    """Return the states of these sums by one of their keys alone."""
    states_by_key: dict[Key, list[StateSum]] = {}
    for keys, states in sums.items():
        states_by_key.setdefault(keys[place], []).extend(states)
    return states_by_key


def _gpu_rows(cost_query: CostQuery, team_id: int, sums: StatesByKeys) -> list[CostRow]:
    """Each GPU model; what is of none (cores, storage, calls to APIs) is a row of its own."""
    team, rows = cost_query.teams[team_id], []
    for key, states in states_of_key(sums, -1).items():
        name = dimensions()[GPU_MODEL].without if key is None else str(key)
        word = NONE if key is None else filter_word(name)
        href = cost_query.href(
            "costs", team=filter_word(team.name), gpu_model=word, group_by="workload"
        )
        keys = (team.name, team.cost_centre, "" if key is None else name)
        rows.append(CostRow(keys, sums_of(states), name, href))
    return rows


def _api_calls(cost_query: CostQuery, team_id: int) -> Sequence[ModelCalls]:
    """Return the API models that the team called; nothing where the question is narrowed by what no call has."""
    if cost_query.question.filters:
        return []
    window = cost_query.question.window
    wanted = SpendQuery(window.starts_at, window.ends_at, window.zone, frozenset({team_id}))
    return model_calls(spend(wanted, ("vendor", "model")), cost_query.context.calendar.today)
