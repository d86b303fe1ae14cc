"""The pods of jobs that were told of, kept on disk: what ends while no agent runs is told by the next."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

from runrate_agent.whose.kubeapi import PodFact


def remembered_pods(path: Path) -> list[PodFact]:
    """One pod of each job; none where nothing was kept, or it cannot be read."""
    try:
        return [PodFact(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


def remember_pods(path: Path, pods: Collection[PodFact]) -> None:
    """Keep these in place of those of before. Where the disk cannot be written, memory has them."""
    told = json.dumps([asdict(each) for each in pods])
    new = path.with_suffix(".new")
    try:
        new.write_text(told, encoding="utf-8")
        new.replace(path)
    except OSError:
        return
