"""For people who add a learner: contracts that it must keep, and strategies for its tests."""
