"""People: who can sign in and what they may see, machines' tokens, and who changed what."""
