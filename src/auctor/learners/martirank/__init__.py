"""MartiRank: branching programs from a table, or from an oracle of noisy draws."""
