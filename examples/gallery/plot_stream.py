"""
Learn from a stream
===================

:class:`auctor.SamplingMartiRank` draws rows when it needs them and keeps none, so that its memory
does not grow with their number. The rows come from a function; here 30 % of their labels are
wrong.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SamplingMartiRank
from auctor.datasets import Sample, make_r_of_k


def draw(n: int, rng: np.random.Generator) -> Sample:
    """The label is the majority of 9 among 20 features, and 30 % of the labels are flipped."""
    return make_r_of_k(n, n_features=20, k=9, r=5, noise=0.3, random_state=rng)


new = draw(10_000, np.random.default_rng(1))
aucs, n_rows = [], []
for max_draws in (1000, 3000, 10_000, 30_000):
    ranker = SamplingMartiRank(n_layers=20, max_draws=max_draws, noise_rate=0.3).fit_oracle(draw)
    aucs.append(ranker.score(new.X, new.y_clean))
    n_rows.append(ranker.n_draws_)
print(ranker.certificate_.statement)

# %%
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.semilogx(n_rows, aucs, "o-")
ax.set(xlabel="rows drawn from the stream", ylabel="AUC on true labels")
_ = ax.set_title("20 layers, no row is kept")
