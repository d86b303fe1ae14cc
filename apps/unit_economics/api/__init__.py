"""What other programs ask about what work cost."""
