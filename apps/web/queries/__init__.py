"""What this server itself has to give."""
