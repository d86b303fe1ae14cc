"""What GPU time costs: pure arithmetic; no Django, no clock, no I/O."""
