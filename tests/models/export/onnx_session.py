"""Rows through onnxruntime: the columns that an exported model names, in the types it wants."""

import json

import numpy as np
import onnxruntime

UNKNOWN = {"string": "\N{REPLACEMENT CHARACTER}", "int64": -(2**63)}  # no category has these values


def properties(proto):
    return {entry.key: entry.value for entry in proto.metadata_props}


def open_session(proto, threads=1):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    data = proto.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def as_column(values, kind):
    """Values as an array [N, 1]; None is NaN, or a value that is not a category."""
    if kind in UNKNOWN:
        plain = [UNKNOWN[kind] if value is None else value for value in values]
        return np.array(plain, dtype=object if kind == "string" else np.int64).reshape(-1, 1)
    if kind == "bool":
        return np.array(values, dtype=np.bool_).reshape(-1, 1)
    plain = [np.nan if value is None else float(value) for value in values]
    return np.array(plain, dtype=kind).reshape(-1, 1)


def make_feed(proto, rows):
    """Name of an input -> its column; rows are dicts."""
    return {
        own["input"]: as_column([row[own["name"]] for row in rows], own["type"])
        for own in json.loads(properties(proto)["inputs"])
    }


def run_rows(proto, rows, threads=1):
    """Scores, probabilities and labels of rows."""
    return open_session(proto, threads).run(None, make_feed(proto, rows))
