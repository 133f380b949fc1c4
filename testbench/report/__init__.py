"""A page of results for a browser: one file, which needs no network.

In the order in which to read:

- :mod:`.page`: The page: its sections in one document
- :mod:`.sections`: Makes the sections of a result file's page: configuration, figures, tables, the
  life of a message, checks
- :mod:`.first_messages`: The first messages of a time line
- :mod:`.cells`: Tables of the terminal as tables of a page
- :mod:`.figures`: Plots as figures that answer to the mouse
"""

from .page import page

__all__ = ["page"]
