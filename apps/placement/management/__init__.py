"""What commands of placement share."""
