"""Generators of the pages of docs/ that come from the declarations.

In the order in which to read:

- :mod:`.page`: Makes the frame of the pages that are made from the declarations: tables, and how
  they are written
- :mod:`.registers`: Makes docs/reference/registers.md from the declarations: ``python -m
  nicbed.layouts.docs.registers``
- :mod:`.processor`: Makes docs/reference/processor.md from the declarations: ``python -m
  nicbed.layouts.docs.processor``
- :mod:`.knobs`: Makes docs/reference/knobs.md from the description:
  ``python -m nicbed.layouts.docs.knobs``
"""
