"""Answers what a change of a knob would do: each knob is halved, doubled and made free, one at a
time.

In the order in which to read:

- :mod:`.changes`: Chooses the knobs that matter to a layer, and the values that each of them takes
- :mod:`.probe`: Measures one description: figures, work of a round trip, a fingerprint of its runs
- :mod:`.prediction`: Predicts what a change of a knob should do, to first order, from the work of a
  round trip
- :mod:`.effects`: Tells what the changes did: differences, elasticities, surprises, the order
- :mod:`.experiment`: Measures all changes of a description, as a study does
- :mod:`.report`: Tables and plot of the effects of changes
"""

from .experiment import Question, ask

__all__ = ["Question", "ask"]
