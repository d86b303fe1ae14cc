"""Runrate's training SDK: a run says what it did, and never waits for anybody to hear it."""

from __future__ import annotations

from runrate.running import Run, run

__all__ = ["Run", "run"]
__version__ = "0.2.0"
