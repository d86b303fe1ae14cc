"""The cost of GPU time: pure arithmetic; no Django, no clock, no I/O."""
