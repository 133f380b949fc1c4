"""COMMTEST: 21 protocols by which ranks exchange messages, and which of them is fastest where.

In the order in which to read:

- :mod:`.protocols`: The protocols: what a rank calls for each message that it exchanges
- :mod:`.exchange`: One exchange: the ranks send each other a volume of data in messages of equal
  length
- :mod:`.grid`: The grid that is measured: its cells, each with its numbers of messages
- :mod:`.model`: The linear model of a protocol, and which protocols are worth having
- :mod:`.results`: Parameters and results of COMMTEST
- :mod:`.report`: Tables and plot
- :mod:`.commtest`: Measurement and evaluation
"""
