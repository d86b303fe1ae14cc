"""Jobs over the wire: what schedulers and agents state of them, and one job for whoever asks."""
