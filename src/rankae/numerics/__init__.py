"""Arithmetic that knows nothing of the method: threads, sparse products, solvers, top-k, tables, the label index."""
