"""What may be read by whom, tried at every address there is."""
