"""Building blocks of every page: who asks, tables said once, charts, the page around them, changes."""
