"""Actions on jobs, on what they hold and on the rules that say whose they are."""
