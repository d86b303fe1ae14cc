"""The REST interface by which other programs ask about what work cost."""
