"""What answers about costs share, of this app and of those above it."""
