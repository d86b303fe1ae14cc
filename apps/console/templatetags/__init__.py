"""What templates may call: the formatters of apps.show, under their own names."""
