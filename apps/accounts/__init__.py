"""The organisation, people, teams, roles and access tokens."""
