"""MarginRanker: a weighted sum with the largest soft margin over pairs of rows."""
