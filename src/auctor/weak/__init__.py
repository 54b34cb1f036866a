"""Weak rankers: what a booster picks from in each round."""

from auctor.weak.stump import Stump, StumpSearch

__all__ = ["Stump", "StumpSearch"]
