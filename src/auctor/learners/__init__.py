"""The learning algorithms, one folder for each family.

A learner is a function ``fit_*(data, settings)`` that returns ``(model, history, certificate)``:

- ``settings`` is a frozen dataclass named after the learner, such as ``RankBoostSettings``;
- ``model`` is a ``Model`` with threshold and calibration;
- ``history`` is a dataclass with the steps of the fit, why it stopped, and all further results;
- ``certificate`` is a ``Certificate``: what is guaranteed for the training result.

The function changes none of its arguments and keeps no state between calls. ``data`` is one of
three kinds:

- ``RankingData``, a binned table, for most learners. Learners with early stopping take the held-out
  rows as a third argument, also ``RankingData``, and those that continue a model take its scores;
- a *problem*, for linear combinations of given functions: ``MarginProblem`` for ``fit_margin``,
  whose functions may be scorers of the user, and ``ColumnProblem`` for ``fit_dmks``. A problem has
  the values of the functions on the training rows and makes the model from their weights, because
  only it knows what they are functions of;
- a ``Stream`` of draws for ``fit_sampling_martirank``. A stream can fail during the fit; then the
  learner raises ``OracleError``, which has the model, history and certificate of the layers that
  were finished.

Learners that can go on after an interruption also take a ``Journal``
(``learners.checkpoint.checkpoint``), in which they note their steps; without one nothing is noted.

Functions that choose settings by cross-validation (``smooth.search.find_amounts``) also take the
folds, and return the chosen candidate and all candidates.

Import a learner from its own module: importing this package loads none of them.
"""
