"""AUC of a model and of its scorecards on held-out rows: all bins, and 8, 5 and 3 bins a feature.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA. Each is divided
into training rows and held-out rows (30 %), several times. Cards are made with the training rows;
their points are whole numbers, with 20 points to double the odds. The differences to the AUC of the
model have intervals that allow for training rows that the splits share.
"""

import argparse
import time
from statistics import mean, median

import numpy as np
from kept import interval, print_row, signed
from quality import each_table
from sklearn.model_selection import train_test_split

from auctor import SmoothAUCBoostCV
from auctor.metrics import auc

N_SPLITS = {"german_uci": 20, "taiwan": 5, "gmsc": 5}
CARDS = {"all bins": None, "8 bins": 8, "5 bins": 5, "3 bins": 3}
_HELD_OUT = 0.3


def split_aucs(X, y, seed: int) -> dict[str, float]:
    """The AUC of the model and of its cards on the held-out rows of one split."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=_HELD_OUT, stratify=y, random_state=seed
    )
    model = SmoothAUCBoostCV().fit(X_train, y_train).model_
    out = {"model": model.score(X_test, y_test)}
    for name, max_bins in CARDS.items():
        start = time.process_time()
        card = model.to_scorecard(max_bins=max_bins, X=X_train, y=y_train)
        out[f"{name} (s)"] = time.process_time() - start
        out[name] = auc(y_test, -card.score(X_test))
        out[f"{name} (lines)"] = float(sum(term.points.size for term in card.terms))
    return out


def main() -> None:
    """Print a row for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", default=list(N_SPLITS))
    names = parser.parse_args().tables
    print_row(["table", "splits", "model", *CARDS, "lines of the cards", "CPU seconds for a card"])
    print_row(["---"] * (len(CARDS) + 5))
    for name, X, y in each_table(names):
        splits = [split_aucs(X, np.asarray(y), seed) for seed in range(N_SPLITS.get(name, 3))]
        overlap = _HELD_OUT / (1 - _HELD_OUT)
        cells = [
            signed(interval([one[card] - one["model"] for one in splits], overlap))
            for card in CARDS
        ]
        lines = ", ".join(f"{mean(one[f'{card} (lines)'] for one in splits):.0f}" for card in CARDS)
        # The first card compiles kernels.
        seconds = median(one[f"{card} (s)"] for one in splits for card in CARDS)
        auc_model = mean(one["model"] for one in splits)
        print_row([name, str(len(splits)), f"{auc_model:.4f}", *cells, lines, f"{seconds:.2f}"])


if __name__ == "__main__":
    main()
