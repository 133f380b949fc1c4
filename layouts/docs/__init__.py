"""Generators of the pages of docs/ that come from the declarations.

In the order in which to read:

- :mod:`.page`: What the pages made from the declarations have in common: tables, and how they are
  written
- :mod:`.registers`: Makes docs/registers.md from the declarations: ``python -m
  nicbed.layouts.docs.registers``
- :mod:`.processor`: Makes docs/processor.md from the declarations: ``python -m
  nicbed.layouts.docs.processor``
- :mod:`.knobs`: Makes docs/knobs.md from the description: ``python -m nicbed.layouts.docs.knobs``
"""
