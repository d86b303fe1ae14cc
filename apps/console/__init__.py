"""What people see: pages and fragments; imported by nobody."""
