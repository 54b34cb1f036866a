"""A table whose rows are spread over the members of a group: bins, categories, copies, scores."""
