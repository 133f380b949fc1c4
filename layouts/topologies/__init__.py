"""Topologies: graphs of switches, by their names in ``fabric.topology`` or from a file.

In the order in which to read:

- :mod:`.chain`: A chain: switches in a row
- :mod:`.fat_tree`: A fat tree of two levels: leaves with nodes, and roots
- :mod:`.mesh`: A mesh: a switch for each node, in rows and columns
- :mod:`.graph_file`: A topology out of a file: places, trunks and routes as ports, in TOML
- :mod:`.sound`: Checks a graph of switches: every node reaches every other node, and packets never
  wait for each other in a circle
"""
