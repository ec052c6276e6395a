"""Numerical building blocks: threads, sparse products, solvers, top-k, tables, the label index."""
