"""Run every speed benchmark and print one table: ``make bench``."""

import platform
import sys

import bench_exactboost
import bench_forest_scoring
import bench_margin
import bench_martirank
import bench_metrics
import bench_onnx
import bench_rankboost
import bench_smooth
import bench_sparse
import bench_startup
import bench_tree_boost
import bench_tree_shap
import bench_treerank
from timing import print_table


def main() -> int:
    print(f"Python {platform.python_version()}; times are medians, ratio is peer / ours")
    modules = (
        bench_startup,
        bench_metrics,
        bench_rankboost,
        bench_sparse,
        bench_martirank,
        bench_margin,
        bench_treerank,
        bench_tree_boost,
        bench_tree_shap,
        bench_forest_scoring,
        bench_onnx,
        bench_smooth,
        bench_exactboost,
    )
    for module in modules:
        print_table(module.run())
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
