"""The `auctor` command: fit, score and evaluate from the command line."""
