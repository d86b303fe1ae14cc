"""The weekly portfolio review: what is in one, how it is kept, and what each viewer sees of it."""
