"""The paper's experiments: comparison, label noise and ablation, on cells that are kept as soon as they are finished.

cells     one measurement and where it is kept        measure    how one is made
plan      which ones an experiment needs              summary    means, ranks and real differences
tables, svg, page                                     what a reader gets to see
compare, noise, ablate                                the experiments themselves
"""
