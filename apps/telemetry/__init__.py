"""Telemetry of the GPUs: windows in, usage hours out, gaps known."""
