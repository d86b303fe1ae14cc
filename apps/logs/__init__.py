"""Log of what happened, one line each: every change and every pass, with who, how many and how long."""
