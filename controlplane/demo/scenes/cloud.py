"""The cloud's account, read through a conversation that was recorded: the demo asks no cloud."""

import contextlib
import io
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from django.core.management import call_command

from apps.fleet.actions.clouds import add_cloud_account
from apps.fleet.queries.clouds import NewCloudAccount
from controlplane.demo.company import Company

ACCOUNT = NewCloudAccount(
    name="Northwind production",
    provider="aws",
    account="123456789012",
    regions=("us-east-1",),
    syncs=("quotas",),
)
LIMITS = (
    ("L-417A185B", "Running On-Demand P instances", 768),
    ("L-DB2E81BA", "Running On-Demand G and VT instances", 192),
    ("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests", 192),
    ("L-3819A6DF", "All G and VT Spot Instance Requests", 64),
)


def read_the_cloud(company: Company) -> None:
    """The cloud's account is read: what it lets the company have."""
    add_cloud_account(account=ACCOUNT, at=company.week.at)
    with (
        _recorded_cloud() as address,
        _asked_at(address),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        call_command("sync_cloud", ACCOUNT.name)


@contextmanager
def _asked_at(address: str) -> Iterator[None]:
    """Have the cloud's library ask there, with keys that open nothing, and forget it again."""
    kept = dict(os.environ)
    os.environ |= {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "recorded",
        "AWS_SECRET_ACCESS_KEY": "recorded",
    }
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= kept


class _Recorded(BaseHTTPRequestHandler):
    """Answers as Service Quotas did."""

    def do_POST(self) -> None:
        """Whatever is asked: there is one question."""
        self.rfile.read(int(self.headers["Content-Length"]))
        quotas = [
            {
                "ServiceCode": "ec2",
                "QuotaCode": code,
                "QuotaName": name,
                "Value": value,
                "Unit": "None",
            }
            for code, name, value in LIMITS
        ]
        body = json.dumps({"Quotas": quotas}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Not a word: the terminal has the demo's progress."""


@contextmanager
def _recorded_cloud() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Recorded)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
