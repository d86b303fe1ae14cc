"""What every page is made of: who asks, tables said once, charts, the page around them, changes."""
