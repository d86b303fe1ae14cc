"""Actions that change windows and usage hours: ingest, the roll-up and the keeping of partitions."""
