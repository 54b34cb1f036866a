"""Parts that learners of several families use."""
