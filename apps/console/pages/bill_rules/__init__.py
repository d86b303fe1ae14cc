"""Rules that say where rows of bills go which do not say it themselves."""
