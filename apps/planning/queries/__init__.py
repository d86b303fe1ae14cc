"""Questions about what comes next, answered from what was measured."""
