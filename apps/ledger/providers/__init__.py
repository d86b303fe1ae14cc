"""Files and services outside that tell what was billed."""
