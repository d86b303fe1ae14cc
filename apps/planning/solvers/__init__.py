"""What is computed of values alone, in workers and commands; numpy stays in here."""
