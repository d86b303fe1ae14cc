"""The console that people see: pages and fragments; imported by nobody."""
