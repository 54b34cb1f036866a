"""
What each feature adds to the score
===================================

The score of :class:`auctor.SmoothAUCBoost` is a sum of one curve per feature, so that it can be
drawn. The table has 81 children after spinal surgery; the label says whether kyphosis, a
deformity, was present (Komori 2010, section 5). The bands show how much a curve varies with the
rows.
"""

import pandas as pd

from auctor import SmoothAUCBoost
from auctor.datasets import load_kyphosis
from auctor.display import ScorePlotDisplay

sample = load_kyphosis()
X = pd.DataFrame(sample.X, columns=list(sample.feature_names))
ranker = SmoothAUCBoost().fit(X, sample.y)
ScorePlotDisplay.from_estimator(ranker, X, sample.y)

# %%
# The score of one child, divided into what each feature adds to that of the average child:
print(ranker.explain(X.iloc[2]))
