"""Says why two NICs differ: the difference of each figure in parts that add up to it.

In the order in which to read:

- :mod:`.round_trip`: A round trip by stage and cost item
- :mod:`.observation`: Measures a side: figures, round trips by stage, cost items, events
- :mod:`.local`: A side that this revision of the project measures
- :mod:`.remote`: A side that another revision of the project measures
- :mod:`.sides`: The two sides
- :mod:`.difference`: The difference in parts, and the first event in which two runs differ
- :mod:`.report`: Its tables and its plot
"""

from .difference import difference
from .sides import common_layer, observe, prepared

__all__ = ["common_layer", "difference", "observe", "prepared"]
