"""Add an account of a cloud to read from."""

from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from apps.fleet.actions import clouds
from apps.fleet.management.answering import Answer, AnsweringCommand
from apps.fleet.queries.clouds import NewCloudAccount
from apps.providers.cloud import KINDS
from apps.providers.registry import clouds as known_clouds


class Command(AnsweringCommand):
    """`manage.py add_cloud_account main --provider aws --account 123456789012 --region …`."""

    help = "Add a cloud account to read prices and bills from; keys come from the surroundings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments that say which account, and what to read of it."""
        super().add_arguments(parser)
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--provider", required=True, choices=list(known_clouds()))
        parser.add_argument("--account", required=True, help="its number, or the project")
        parser.add_argument("--region", action="append", default=[], help="may be repeated")
        parser.add_argument(
            "--read", action="append", default=[], choices=list(KINDS), help="may be repeated"
        )
        parser.add_argument("--role-arn", default="", help="the role to take on, if any")
        parser.add_argument("--export-uri", default="", help="s3://bucket/prefix/export-name")
        parser.add_argument("--export-region", default="", help="the region of that bucket")
        parser.add_argument(
            "--replace", action="store_true", help="say all of it anew of the account of this name"
        )

    def answer(self, options: dict[str, Any], at: datetime) -> Answer:
        """Add it, or say anew what it is."""
        account = NewCloudAccount(
            name=options["name"],
            provider=options["provider"],
            account=options["account"],
            regions=tuple(options["region"]),
            syncs=tuple(options["read"]),
            role_arn=options["role_arn"],
            export_uri=options["export_uri"],
            export_region=options["export_region"],
        )
        if options["replace"]:
            account_id = clouds.change_cloud_account(account=account)
        else:
            account_id = clouds.add_cloud_account(account=account, at=at)
        return {"id": account_id}, f"{account.name} is kept."
