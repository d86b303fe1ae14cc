"""Facts of other apps about one line: names, devices, what was held, the rule that decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from apps.accounts import queries as accounts
from apps.console.pages.costs.question import CostQuery
from apps.economics.hours import HOUR
from apps.economics.node_hour import UsageFact
from apps.fleet import queries as fleet
from apps.ledger.queries import Basis
from apps.ledger.queries.drill import ChargePieceDetail, LineProvenance
from apps.pricing.queries.listing import rate_rows
from apps.show.money import symbol
from apps.show.time import day_or_instant
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

MS_PER_MINUTE = 60_000
QUANTITIES = {1: "a second", 60: "a minute", 3600: "an hour"}


@dataclass(frozen=True, slots=True)
class PieceRow:
    """A part of the hour with one rate: as quoted, where it comes from, since when; what covers it."""

    minutes: str
    amount: str
    source: str
    valid: str
    micros: int | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class LineFacts:
    """The line, and what it names."""

    behind: LineProvenance
    asked: CostQuery
    teams: Mapping[int, accounts.TeamFact]
    pool: fleet.PoolFact | None
    job: workloads.JobFact | None
    rule: workloads.RuleFact | None
    clusters: Mapping[int, str]
    jobs: Mapping[int, workloads.JobFact]
    named_workloads: Mapping[int, workloads.WorkloadFact]
    policy: fleet.PolicyFact | None
    devices: Sequence[fleet.DeviceFact]
    usage: Sequence[UsageFact]
    held: Sequence[workloads.HeldFact]
    rates: Mapping[int, Mapping[str, Any]]

    @property
    def zone(self) -> ZoneInfo:
        """Where days begin."""
        return self.asked.context.zone

    @property
    def basis(self) -> Basis:
        """The basis whose amounts are shown."""
        return self.asked.question.basis

    def href(self, name: str, *place: object) -> str:
        """A page of the way down, with the filters that were kept or else on the line's own day."""
        if self.asked.context.query:
            return self.asked.href(name, *place)
        day = str(self.behind.hour.astimezone(self.zone).date())
        return self.asked.href(name, *place, window=day)

    def line_href(self, line_id: int) -> str:
        """The page of a line of the same charge, with the same filters."""
        return self.asked.href("costs-line", f"{self.behind.month:%Y-%m}", line_id)

    def pieces(self) -> tuple[PieceRow, ...]:
        """The parts of the charge and their rates; nothing to who sees no prices."""
        return tuple(self._piece_row(piece) for piece in self.behind.pieces)

    def _piece_row(self, piece: ChargePieceDetail) -> PieceRow:
        rate = self.rates.get(piece.rate_id or 0)
        minutes = f"{_minute_text(piece.start_ms)} to {_minute_text(piece.end_ms)} min"
        micros = piece.micros.get(self.basis)
        if rate is None:
            return PieceRow(minutes, "no price", "", "", micros, _piece_note(piece))
        source = rate["source"] or "entered without a source"
        dated = rate["source_date"]
        return PieceRow(
            minutes=minutes,
            amount=_quoted_rate(rate),
            source=f"{rate['kind']} price: {source}{f', {dated}' if dated else ''}",
            valid=in_force(rate["starts_at"], rate["ends_at"], self.zone),
            micros=micros,
            note=_piece_note(piece),
        )


def line_facts(line: LineProvenance, cost_query: CostQuery) -> LineFacts:
    """Everything, in ten questions at most."""
    node_ids = [line.node_id] if line.node_id is not None else []
    ends_at = line.hour + HOUR
    devices = fleet.devices_alive_between(node_ids, line.hour, ends_at) if node_ids else []
    allocations = workloads.allocations_held(node_ids, line.hour, ends_at) if line.job_id else []
    job_id = line.job_id
    named = {sibling.job_id for sibling in line.siblings if sibling.job_id is not None}
    jobs = workloads.jobs(sorted(named)) if named else {}
    rule = workloads.deciding_rule(job_id, line.hour) if job_id is not None else None
    rate_ids = {piece.rate_id for piece in line.pieces if piece.rate_id is not None}
    return LineFacts(
        behind=line,
        asked=cost_query,
        teams=cost_query.teams,
        pool=fleet.pools().get(line.pool_id) if line.pool_id is not None else None,
        job=None if job_id is None else jobs.get(job_id),
        rule=rule,
        clusters=_cluster_names(rule),
        devices=devices,
        usage=telemetry.usage_of_hour(line.hour, [device.id for device in devices]),
        held=[fact for fact in allocations if fact.job_id == job_id],
        rates=rate_rows(rate_ids) if rate_ids else {},
        jobs=jobs,
        named_workloads=workloads.workloads() if line.workload_id is not None else {},
        policy=_policy_of(line),
    )


def in_force(starts_at: datetime | None, ends_at: datetime | None, zone: ZoneInfo) -> str:
    """`since 1 June 2026 until 1 July 2026`."""
    since = day_or_instant(starts_at, zone) if starts_at else "ever"
    until = f" until {day_or_instant(ends_at, zone)}" if ends_at else ", open-ended"
    return f"since {since}{until}"


def _cluster_names(rule: workloads.RuleFact | None) -> Mapping[int, str]:
    """Names of clusters, where the rule asks for one."""
    if rule is None or rule.rule.cluster_id is None:
        return {}
    return {cluster.id: cluster.name for cluster in fleet.clusters().values()}


def _policy_of(line: LineProvenance) -> fleet.PolicyFact | None:
    if line.policy_version is None or line.pool_id is None:
        return None
    policy = fleet.share_policies([line.pool_id], line.hour).get(line.pool_id)
    return policy if policy and policy.version == line.policy_version else None


def _piece_note(piece: ChargePieceDetail) -> str:
    covered = f"covered by {piece.commitment}" if piece.commitment else ""
    return "; ".join(part for part in (covered, piece.detail) if part)


def _minute_text(milliseconds: int) -> str:
    minutes = milliseconds / MS_PER_MINUTE
    return f"{minutes:.0f}" if minutes == round(minutes) else f"{minutes:.2f}"


def _quoted_rate(rate: Mapping[str, Any]) -> str:
    """`$98.32 an hour per node`: the amount exactly as it was entered."""
    amount = f"{rate['amount'].normalize():f}"
    quantity = QUANTITIES.get(rate["quantity_seconds"], f"for {rate['quantity_seconds']:,} s")
    return f"{symbol(rate['currency'])}{amount} {quantity} per {rate['unit'].upper()}".replace(
        "per NODE", "per node"
    )
