"""The time line of runs: a track for each CPU and block, in Perfetto's format.

In the order in which to read:

- :mod:`.tracks`: Events and marks of a run as slices, instants and counts on tracks
- :mod:`.perfetto`: The tracks of one or more runs in a file that ui.perfetto.dev opens
- :mod:`.reading`: The slices of such a file
"""

from .perfetto import MOST, Timeline

__all__ = ["MOST", "Timeline"]
