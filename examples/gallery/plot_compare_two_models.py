"""
Compare two models with a test
==============================

Two models are compared on the same rows, so that the test is paired: most of the noise is common
to both. Any score can be compared, also that of another library.
"""

import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from auctor import SmoothAUCBoostCV
from auctor.datasets import make_loans
from auctor.display import ROCDisplay
from auctor.metrics import compare_auc, compare_metric


def loans(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    X, y = make_loans(n, random_state=seed)
    return X.to_pandas(), pd.Series(y)


X, y = loans(2000, seed=0)
X_test, y_test = loans(2000, seed=1)
numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
logistic = make_pipeline(
    make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(), ["purpose", "housing"]),
    ),
    LogisticRegression(),
).fit(X, y)
smooth = SmoothAUCBoostCV().fit(X, y)

scores = {
    "SmoothAUCBoostCV": smooth.decision_function(X_test),
    "logistic regression": logistic.decision_function(X_test),
}
ROCDisplay.from_predictions(y_test, scores, band=None)

# %%
# A is the first score, B the second:
print(compare_auc(y_test, *scores.values()))
print(compare_metric(y_test, *scores.values(), metric="ks"))
