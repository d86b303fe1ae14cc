"""Wiring only: settings, addresses, processes, the embedded Postgres and the table of refusals."""
