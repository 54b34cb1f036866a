"""Checkpoints: the finished rounds of a fit, kept so that an interrupted fit can go on.

``checkpoint`` has the class that users give to ``fit`` and the journal that learners write to,
``store`` the places where the state is kept, ``file`` and ``records`` its text, and ``identity``
what a fit is recognised by.
"""
