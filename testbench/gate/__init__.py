"""Figures that were accepted, and a check that they are still the same, to the last digit.

In the order in which to read:

- :mod:`.file`: A gate file: descriptions, their benchmarks, and the accepted values
- :mod:`.record`: Keeps a gate file's record beside it: configurations and round trips in parts, as
  JSON
- :mod:`.measuring`: Measures the figures of a gate
- :mod:`.checking`: Finds what moved since it was accepted, and why
- :mod:`.report`: Shows what moved as tables, as JUnit XML and as Markdown
- :mod:`.bed`: A testbed whose figures a test compares with those that were accepted
- :mod:`.plugin`: The plugin for pytest: the fixture ``nicbed_testbed``
- :mod:`.short_names`: Short names for what the plugin gives, for suites that have no such names
  themselves: the fixture ``testbed``, the option ``--gate`` and the marker ``gate``
"""

__all__: list[str] = []
