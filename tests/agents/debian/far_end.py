"""A far server inside the machine: wheels, enrolments, a Slurm cache, and a note of all it was sent."""

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WHEELS, SENT = Path(sys.argv[1]), Path(sys.argv[2])
TOKEN = "rr_its_own"
CACHE = {
    "cluster": "atlas",
    "currency": "USD",
    "valid_seconds": 3600,
    "digest": "d1",
    "pools": [],
    "limits": [],
    "owners": [],
    "quotes": [],
    "overrides": [],
}


class FarEnd(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        wheel = WHEELS / self.path.rpartition("/")[2]
        if self.path.startswith("/downloads/") and wheel.is_file():
            self.answer(200, wheel.read_bytes(), "application/octet-stream")
        elif "/placements/slurm-cache" in self.path and self.is_known():
            self.answer(200, json.dumps(CACHE).encode())
        else:
            self.answer(401, b'{"title": "no such token"}')

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if self.path == "/api/v1/enrolments":
            told = {"token": TOKEN, "node": "gpu-01", "scopes": ["ingest", "jobs"]}
            self.answer(201, json.dumps(told).encode())
            return
        if not self.is_known():
            self.answer(401, b'{"title": "no such token"}')
            return
        with SENT.open("a") as file:
            file.write(json.dumps({"path": self.path, "body": json.loads(body)}) + "\n")
        self.answer(200, b'{"accepted": 1, "duplicate": false, "rejected": [], "ignored": []}')

    def is_known(self):
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Quiet."""


ThreadingHTTPServer(("127.0.0.1", 8000), FarEnd).serve_forever()
