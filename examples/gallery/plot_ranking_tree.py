"""
A ranking tree
==============

The leaves of :class:`auctor.TreeRank`, from left to right, are the ranking. A tree of depth 3 can
be read, and printed as rules.
"""

from auctor import TreeRank
from auctor.datasets import make_loans
from auctor.display import TreeDisplay

X, y = make_loans(3000)
X_test, y_test = make_loans(2000, random_state=1)
ranker = TreeRank(max_depth=3, min_samples_leaf=50).fit(X, y)
_ = TreeDisplay.from_estimator(ranker).plot()

# %%
print(f"AUC on new rows: {ranker.score(X_test, y_test):.3f}")
print(ranker.model_)
