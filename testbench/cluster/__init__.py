"""Measurements on a Dask cluster: an executor of studies, and its workers.

In the order in which to read:

- :mod:`.executor`: An executor whose measurements a Dask cluster carries out
- :mod:`.worker`: Does a worker's part in a cluster: it checks that it measures the same, and
  measures
- :mod:`.builds`: Built simulators and firmware, as they travel from one cache to another
- :mod:`.connection`: The connection to a cluster, or one line that says why there is none
"""

__all__: list[str] = []
