"""Planning over REST, a module for each thing that is answered."""
