"""Examples of the requests for teams and tokens, and of their answers."""

from apps.web.rest.examples import answered, listed, sent

_TEAM = {
    "id": 4,
    "name": "Research",
    "kind": "team",
    "parent": None,
    "cost_centre": "CC-100",
}
TEAMS = listed("Teams", _TEAM)
TEAM = answered("Team", _TEAM, 200, 201)
NEW_TEAM = sent("New team", {"name": "Vision", "parent": "Research", "cost_centre": "CC-101"})
TEAM_CHANGE = sent("Move", {"parent": None, "cost_centre": "CC-102"})

_TOKEN = {
    "id": 7,
    "name": "reports",
    "prefix": "rr_Zm9v",
    "scopes": ["read"],
    "team": {"id": 4, "name": "Research"},
    "created_at": "2026-03-02T12:00:00Z",
    "expires_at": None,
    "revoked_at": None,
    "last_used_at": None,
}
TOKENS = listed("Tokens", _TOKEN)
TOKEN = answered("Token", _TOKEN)
NEW_TOKEN = sent("New token", {"name": "reports", "scopes": ["read"], "team": "Research"})
MADE_TOKEN = answered("Made token", _TOKEN | {"secret": "rr_Zm9vYmFy…"}, 201)
REVOKED_TOKEN = answered("Revoked token", _TOKEN | {"revoked_at": "2026-03-02T13:00:00Z"})
