"""What the GPUs did: windows in, usage hours out, gaps known."""
