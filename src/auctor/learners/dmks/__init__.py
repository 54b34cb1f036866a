"""DMKS: a linear score that maximises the KS statistic."""
