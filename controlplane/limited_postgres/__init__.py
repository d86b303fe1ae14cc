"""A database backend whose statements end in time: Postgres, with the limits of what is being asked."""
