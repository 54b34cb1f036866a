"""MarginRanker: the largest soft margin over pairs of rows, by linear programming."""
