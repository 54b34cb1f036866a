"""Rewrites the stored models and their scores; run by ``make golden`` only.

``python -m golden.rewrite rankboost`` rewrites one of them, ``make golden CASES=rankboost`` too.
"""

import json
import sys
from pathlib import Path

from golden.cases import CASES, messy_table

FOLDER = Path(__file__).parent

if __name__ == "__main__":
    names = sys.argv[1:] or list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        sys.exit(f"no such golden models: {', '.join(unknown)}; give some of {', '.join(CASES)}")
    X, _ = messy_table()
    for name in names:
        model = CASES[name]()
        model.save(FOLDER / f"{name}.model.json")
        scores = model.decision_function(X).tolist()
        (FOLDER / f"{name}.scores.json").write_text(json.dumps(scores) + "\n")
        print(f"wrote {name}.model.json and {name}.scores.json in tests/golden")
