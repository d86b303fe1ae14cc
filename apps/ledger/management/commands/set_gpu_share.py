"""Say how much of the price of a pool's nodes rides on their GPUs."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts import queries as accounts
from apps.economics.typed import parse_moment
from apps.fleet.queries import PoolFact, pools
from apps.ledger.queries.gpu_share import GpuShareMoves, gpu_share_preview
from apps.pricing import actions
from apps.show.money import signed_amount


class Command(BaseCommand):
    """`manage.py set_gpu_share h100 0.85 --from 2026-11-01`: 15 % are the pool owner's."""

    help = "Say how much of a node's price rides on its GPUs; the rest is the pool owner's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Of which pool, how much, from when on; or only what that would move."""
        parser.add_argument("pool", metavar="POOL")
        parser.add_argument("gpu_share", metavar="SHARE", type=_parse_share, help="between 0 and 1")
        parser.add_argument("--from", dest="starts_at", type=parse_moment, required=True)
        parser.add_argument("--note", default="", help="why")
        parser.add_argument("--preview", action="store_true", help="change nothing")
        parser.add_argument("--json", action="store_true", help="one line, the last of stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what it moves in open months, and keep it unless it is a preview."""
        pool, at = _pool_named(options["pool"]), timezone.now()
        params = {"pool_id": pool.id, "gpu_share": options["gpu_share"]}
        starts_at = options["starts_at"]
        try:
            actions.check_gpu_share(options["gpu_share"])
        except actions.GpuShareNotUnderstood as refusal:
            raise CommandError(str(refusal)) from refusal
        moves = gpu_share_preview(**params, starts_at=starts_at, at=at)
        payload = {"hours": moves.hours, "to_owner_micros": moves.to_owner_micros}
        if not options["preview"]:
            payload["id"] = actions.set_gpu_share(
                **params, starts_at=starts_at, note=options["note"], at=at
            )
        if options["json"]:
            self.stdout.write(json.dumps(payload))
            return
        for line in _moves_in_words(moves, is_preview=options["preview"]):
            self.stdout.write(line)


def _moves_in_words(moves: GpuShareMoves, *, is_preview: bool) -> list[str]:
    organisation, teams = accounts.organisation(), accounts.teams()
    names = {team.id: team.name for team in teams}
    would = "would move" if is_preview else "move"
    amount = signed_amount(moves.to_owner_micros, organisation.currency)
    lines = [f"{moves.hours} hours of open months {would}; the host's part: about {amount}."]
    for team in moves.teams:
        moved = signed_amount(team.after_micros - team.before_micros, organisation.currency)
        lines.append(f"  {names[team.team_id]}: {moved}")
    return lines


def _pool_named(name: str) -> PoolFact:
    for pool in pools().values():
        if pool.name == name:
            return pool
    raise CommandError(f"there is no pool named {name!r}")


def _parse_share(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"{text!r} is not a share such as 0.85") from None
