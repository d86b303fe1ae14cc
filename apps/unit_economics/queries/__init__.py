"""Questions about what work cost: runs, services, teams, and waste."""
