"""SmoothAUCBoost: additive models on the smoothed AUC."""
