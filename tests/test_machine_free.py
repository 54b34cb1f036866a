"""Nothing whose last bits depend on the processor may decide a model: read off the sources.

BLAS and LAPACK sum in an order that they choose by the processor; NumPy calls them for products of
float arrays and for ``np.convolve``, and has its own exponentials, logarithms and powers for some
processors. Its sorts that are not stable order equal values differently.
"""

import ast
from pathlib import Path

import auctor

SOURCE = Path(auctor.__file__).parent
PACKAGES = ("data", "weak", "learners", "kernels")
# Functions of NumPy that call BLAS or LAPACK, or that have versions for several processors.
CALLS = {
    *("np.dot", "np.vdot", "np.inner", "np.matmul", "np.tensordot", "np.convolve", "np.correlate"),
    *("np.cov", "np.corrcoef", "np.polyfit", "np.exp", "np.log", "np.log2", "np.log10"),
    *("np.log1p", "np.expm1", "np.power", "np.tanh", "np.sin", "np.cos"),
}
UNSTABLE = {"np.argsort", "np.argpartition"}
# Uses that decide nothing, or have one order anyway, each with its reason.
ALLOWED = {
    (
        "learners/boosting/soft_rankboost.py",
        "@",
    ): "products of whole numbers, which BLAS does not do",
    ("learners/dmks/columns.py", "@"): "a sparse product, which SciPy does in one order",
    (
        "learners/margin/feature_hypotheses.py",
        "@",
    ): "sparse products, which SciPy does in one order",
    ("learners/margin/hypotheses.py", "@"): "sparse products, which SciPy does in one order",
    ("learners/smooth/search.py", "np.log"): "the nearest of amounts that lie far apart",
    ("learners/smooth/near_maximum.py", "@"): "confidence bands, which no fit reads",
    ("learners/smooth/near_maximum.py", "scipy.linalg"): "confidence bands, which no fit reads",
    ("learners/martirank/noise.py", "np.exp"): "a chance that is compared with 1e-9",
    ("learners/boosting/aucboost_rows.py", "np.log"): "importances, which no fit reads",
    ("learners/common/row_table.py", "np.argsort"): "row numbers, of which no two are equal",
    ("data/binning.py", "np.argsort"): "only weights of equal values, whole numbers, change places",
}


def dotted(node):
    """``np.linalg.solve`` as text; empty where it is not a plain name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def suspects(source, in_kernels=False):
    """Operators and calls of a module whose last bits depend on the processor."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            yield "@"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy.linalg"):
            yield "scipy.linalg"
        if not isinstance(node, ast.Call):
            continue
        name = dotted(node.func)
        stable = any(word.arg == "kind" for word in node.keywords)
        if name.startswith(("np.linalg.", "linalg.")) and name != "np.linalg.LinAlgError":
            yield name
        if name in UNSTABLE and not stable:
            yield name
        # Compiled by Numba, np.exp is that of the C library.
        if name in CALLS and not in_kernels:
            yield name


def found_in(path):
    module = path.relative_to(SOURCE).as_posix()
    source = path.read_text(encoding="utf-8")
    return {(module, name) for name in suspects(source, module.startswith("kernels/"))}


def test_what_decides_a_model_adds_up_in_a_fixed_order():
    paths = [path for package in PACKAGES for path in sorted((SOURCE / package).rglob("*.py"))]
    assert len(paths) > 100
    offenders = set().union(*map(found_in, paths))
    assert sorted(offenders - set(ALLOWED)) == []
    assert sorted(set(ALLOWED) - offenders) == []  # an exception that is not needed any more


def test_the_test_itself():
    source = "a @ b\nnp.exp(x)\nnp.argsort(x)\nnp.argsort(x, kind='stable')\nnp.linalg.inv(a)\n"
    assert sorted(suspects(source)) == ["@", "np.argsort", "np.exp", "np.linalg.inv"]
    assert list(suspects("from scipy.linalg import solve")) == ["scipy.linalg"]
    assert sorted(suspects(source, in_kernels=True)) == ["@", "np.argsort", "np.linalg.inv"]
