"""How much capacity to commit to: what to buy, what that saves, and how it would have done before."""
