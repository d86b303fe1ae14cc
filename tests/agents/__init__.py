"""What the node agent promises, against a server of our own on the loopback."""
