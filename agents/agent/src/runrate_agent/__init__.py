"""Runrate's node agent: measures, spools and sends; shares no code with the server."""
