"""The paper's experiments: comparison, label noise and ablation, and the search for parameters.

cells     one measurement and where it is stored      measure    how a cell is measured
plan      the cells that an experiment needs          summary    means, ranks, significant differences
tables    tables of results                           compare, noise, ablate, tune    the experiments
"""
