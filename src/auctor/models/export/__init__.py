"""Exports of models: what scores rows without this library."""
