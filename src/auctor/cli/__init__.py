"""The `auctor` command: fit, score and evaluate tables without a line of Python."""
