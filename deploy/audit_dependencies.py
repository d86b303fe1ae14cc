"""Asks for known vulnerabilities of what is installed; says aloud what could not be asked."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
IGNORED = HERE / "audit-ignore.txt"
SECONDS = 50


def main() -> int:
    """1 where something installed has a known vulnerability that nobody accepted in writing."""
    report = asked()
    if report is None:
        print("audit: SKIPPED, the network does not let us ask; nothing was checked", flush=True)
        return 0
    skipped = [each for each in report if "skip_reason" in each]
    if len(skipped) == len(report):
        print("audit: SKIPPED, no vulnerability service answered; nothing was checked", flush=True)
        return 0
    accepted = accepted_ids(IGNORED.read_text())
    found = [
        f"audit: {each['name']} {each['version']}: {vulnerability['id']}"
        f" (fixed in {', '.join(vulnerability['fix_versions']) or 'no version yet'})"
        for each in report
        for vulnerability in each.get("vulns", [])
        if not accepted & {vulnerability["id"], *vulnerability.get("aliases", [])}
    ]
    print("\n".join(found) or "audit: nothing installed has a known vulnerability")
    if skipped:
        print(f"audit: not checked: {', '.join(sorted(each['name'] for each in skipped))}")
    return 1 if found else 0


def asked() -> list[dict[str, Any]] | None:
    """What pip-audit says of each installed package; None where it could not ask in time."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    try:
        run = subprocess.run(
            [*command, "--timeout", "5"],
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        dependencies: list[dict[str, Any]] = json.loads(run.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return dependencies


def accepted_ids(text: str) -> set[str]:
    """The first word of each line that is not a comment; the rest of it is the reason."""
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    for words in lines:
        if not words[0].startswith("#") and len(words) < 2:
            raise SystemExit(f"{IGNORED.name}: {words[0]} has no reason")
    return {words[0] for words in lines if not words[0].startswith("#")}


if __name__ == "__main__":
    sys.exit(main())
