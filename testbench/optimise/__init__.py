"""Optimisation: the points of a design that no other beats in all goals, searched for with optuna.

In the order in which to read:

- :mod:`.goal`: A goal: a metric, and whether less of it is better or more
- :mod:`.search`: The search that is optimised: knobs, goals, conditions, trials, seed
- :mod:`.file`: A search's file in TOML
- :mod:`.space`: The points of a search, without those that conditions exclude or descriptions
  refuse
- :mod:`.chooser`: Chooses the next points from the results of the points before
- :mod:`.front`: The points that no other point beats, and the columns that mark them
- :mod:`.run`: Turns a search into its table: rounds of trials, which are measured and told to the
  chooser
- :mod:`.trials`: The table of all trials
- :mod:`.plots`: Its plot: the front of two goals, parallel coordinates above that
"""

from .run import carried_out, optimise
from .search import Search, searched
from .trials import Trials

__all__ = ["Search", "Trials", "carried_out", "optimise", "searched"]
