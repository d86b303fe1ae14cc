"""What commands of planning share."""
