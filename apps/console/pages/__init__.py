"""One page each: the view, and the one frozen value its template gets."""
