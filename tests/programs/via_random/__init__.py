"""Random programs for the VI engine: drawn, played, judged.

In the order in which to read:

- :mod:`.plan`: Random programs for the VI engine, drawn: what two nodes post, and what is to come
  of each post
- :mod:`.play`: Random programs for the VI engine, played: on the model or on the target, the same
  way
- :mod:`.judge`: Random programs for the VI engine, judged: may this come of what was posted?
"""
