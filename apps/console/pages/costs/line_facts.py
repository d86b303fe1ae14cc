"""What the other rooms know about one line: names, devices, what was held, the rule that decided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse

from apps.accounts import queries as accounts
from apps.console.pages.costs.line_values import PieceRow
from apps.economics.hours import HOUR
from apps.economics.node_hour import UsageFact
from apps.fleet import queries as fleet
from apps.ledger.queries import Basis
from apps.ledger.queries.drill import Behind, PieceBehind
from apps.pricing.queries.listing import rate_rows
from apps.show.money import symbol
from apps.show.time import day_or_instant
from apps.telemetry import queries as telemetry
from apps.workloads import queries as workloads

MS_PER_MINUTE = 60_000
QUANTITIES = {1: "a second", 60: "a minute", 3600: "an hour"}


@dataclass(frozen=True, slots=True)
class LineAsked:
    """The basis whose amounts are shown, the order of its tables, and the filters to keep."""

    basis: Basis
    sort: str
    kept: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LineFacts:
    """The line, and what it names."""

    behind: Behind
    viewer: accounts.Viewer
    organisation: accounts.OrganisationFact
    teams: Mapping[int, accounts.TeamFact]
    pool: fleet.PoolFact | None
    job: workloads.JobFact | None
    rule: workloads.RuleFact | None
    clusters: Mapping[int, str]
    jobs: Mapping[int, workloads.JobFact]
    named_workloads: Mapping[int, workloads.WorkloadFact]
    policy: fleet.PolicyFact | None
    asked: LineAsked
    devices: Sequence[fleet.DeviceFact]
    usage: Sequence[UsageFact]
    held: Sequence[workloads.HeldFact]
    rates: Mapping[int, Mapping[str, Any]]

    @property
    def zone(self) -> ZoneInfo:
        """Where days begin."""
        return ZoneInfo(self.organisation.zone)

    def href(self, name: str, *place: object) -> str:
        """A page of the way down, with the filters that were kept or else on the line's own day."""
        day = str(self.behind.hour.astimezone(self.zone).date())
        kept = self.asked.kept or {"window": day}
        return f"{reverse(name, args=place)}?{urlencode(kept)}"

    def here(self, name: str = "costs-line", **changes: str) -> str:
        """The page of this line or a table of it, with the same filters."""
        place = (f"{self.behind.month:%Y-%m}", self.behind.id)
        kept = {**self.asked.kept, **changes}
        return reverse(name, args=place) + (f"?{urlencode(kept)}" if kept else "")

    def line_href(self, line_id: int) -> str:
        """The page of another line of the same charge."""
        place = (f"{self.behind.month:%Y-%m}", line_id)
        kept = f"?{urlencode(self.asked.kept)}" if self.asked.kept else ""
        return reverse("costs-line", args=place) + kept

    def pieces(self) -> tuple[PieceRow, ...]:
        """The parts of the charge and their rates; nothing to who sees no prices."""
        return tuple(self._piece(piece) for piece in self.behind.pieces)

    def _piece(self, piece: PieceBehind) -> PieceRow:
        rate = self.rates.get(piece.rate_id or 0)
        minutes = f"{_minute(piece.start_ms)} to {_minute(piece.end_ms)} min"
        micros = piece.micros.get(self.asked.basis)
        if rate is None:
            return PieceRow(minutes, "no price", "", "", micros, _note(piece))
        source = rate["source"] or "entered without a source"
        dated = rate["source_date"]
        return PieceRow(
            minutes=minutes,
            amount=_quoted(rate),
            source=f"{rate['kind']} price: {source}{f', {dated}' if dated else ''}",
            valid=in_force(rate["starts_at"], rate["ends_at"], self.zone),
            micros=micros,
            note=_note(piece),
        )


def line_facts(
    behind: Behind,
    viewer: accounts.Viewer,
    organisation: accounts.OrganisationFact,
    asked: LineAsked,
) -> LineFacts:
    """Everything, in ten questions at most."""
    node_ids = [behind.node_id] if behind.node_id is not None else []
    ends_at = behind.hour + HOUR
    devices = fleet.devices_lived(node_ids, behind.hour, ends_at) if node_ids else []
    held = workloads.allocations_held(node_ids, behind.hour, ends_at) if behind.job_id else []
    job_id = behind.job_id
    named = {each.job_id for each in behind.siblings if each.job_id is not None}
    jobs = workloads.jobs(sorted(named)) if named else {}
    rule = workloads.deciding_rule(job_id, behind.hour) if job_id is not None else None
    rate_ids = {piece.rate_id for piece in behind.pieces if piece.rate_id is not None}
    return LineFacts(
        behind=behind,
        viewer=viewer,
        organisation=organisation,
        teams={team.id: team for team in accounts.teams() if viewer.sees_team(team.id)},
        pool=fleet.pools().get(behind.pool_id) if behind.pool_id is not None else None,
        job=None if job_id is None else jobs.get(job_id),
        rule=rule,
        clusters=_clusters(rule),
        devices=devices,
        usage=telemetry.usage_of_hour(behind.hour, [each.id for each in devices]),
        held=[fact for fact in held if fact.job_id == job_id],
        rates=rate_rows(rate_ids) if rate_ids else {},
        jobs=jobs,
        named_workloads=workloads.workloads() if behind.workload_id is not None else {},
        policy=_policy(behind),
        asked=asked,
    )


def in_force(starts_at: datetime | None, ends_at: datetime | None, zone: ZoneInfo) -> str:
    """`since 1 June 2026 until 1 July 2026`."""
    since = day_or_instant(starts_at, zone) if starts_at else "ever"
    until = f" until {day_or_instant(ends_at, zone)}" if ends_at else ", open-ended"
    return f"since {since}{until}"


def _clusters(rule: workloads.RuleFact | None) -> Mapping[int, str]:
    """Names of clusters, where the rule asks for one."""
    if rule is None or rule.rule.cluster_id is None:
        return {}
    return {each.id: each.name for each in fleet.clusters().values()}


def _policy(behind: Behind) -> fleet.PolicyFact | None:
    if behind.policy_version is None or behind.pool_id is None:
        return None
    found = fleet.share_policies([behind.pool_id], behind.hour).get(behind.pool_id)
    return found if found and found.version == behind.policy_version else None


def _note(piece: PieceBehind) -> str:
    covered = f"covered by {piece.commitment}" if piece.commitment else ""
    return "; ".join(part for part in (covered, piece.detail) if part)


def _minute(milliseconds: int) -> str:
    minutes = milliseconds / MS_PER_MINUTE
    return f"{minutes:.0f}" if minutes == round(minutes) else f"{minutes:.2f}"


def _quoted(rate: Mapping[str, Any]) -> str:
    """`$98.32 an hour per node`: the amount exactly as it was entered."""
    amount = f"{rate['amount'].normalize():f}"
    quantity = QUANTITIES.get(rate["quantity_seconds"], f"for {rate['quantity_seconds']:,} s")
    return f"{symbol(rate['currency'])}{amount} {quantity} per {rate['unit'].upper()}".replace(
        "per NODE", "per node"
    )
