"""Rewrites the stored models and their scores; run by ``make golden`` only."""

import json
from pathlib import Path

from golden.cases import CASES, messy_table

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    X, _ = messy_table()
    for name, fit in CASES.items():
        model = fit()
        model.save(FOLDER / f"{name}.model.json")
        scores = model.decision_function(X).tolist()
        (FOLDER / f"{name}.scores.json").write_text(json.dumps(scores) + "\n")
        print(f"wrote {name}.model.json and {name}.scores.json in tests/golden")
