"""Every method by name, Rank-AE and its rivals alike: `create("parabel").fit(...)`, `load(folder)`."""

from rankae.methods.registry import METHODS, Method, class_of, create, load, names, search_space, seeded

__all__ = ["METHODS", "Method", "class_of", "create", "load", "names", "search_space", "seeded"]
