"""ExactBoost: stumps boosted on AUC, KS or precision at k themselves."""
