"""TreeRank, and forests of its trees."""
