"""What happens to jobs, to what they hold and to the rules that say whose they are."""
