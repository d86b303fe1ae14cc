"""Where work should run: what can be had, at which price and risk, and what came of what was said."""
