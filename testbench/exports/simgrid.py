"""A platform file of SimGrid: the nodes as a cluster, with SMPI's overheads of sends and receives.

A message crosses the links of its two nodes: half of L each, and 1 / G their bandwidth. g is not in
SimGrid's model. A host's speed is not measured here, and is 1 Gflop/s: computation is what the
program says. Source: SimGrid's documentation of platform files and of SMPI (smpi/os, smpi/or).
"""

from xml.etree import ElementTree

from .parameters import Parameters

__all__ = ["text"]

_HEAD = ('<?xml version="1.0"?>\n'
         '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n')


def text(found: Parameters) -> str:
    """The file."""
    platform = ElementTree.Element("platform", version="4.1")
    platform.append(ElementTree.Comment(f" {found.source} "))
    settings = ElementTree.SubElement(platform, "config")
    for name, value in (("network/model", "SMPI"), ("smpi/os", f"0:{found.send:.9g}:0"),
                        ("smpi/or", f"0:{found.receive:.9g}:0"), ("smpi/lat-factor", "0:1"),
                        ("smpi/bw-factor", "0:1")):
        ElementTree.SubElement(settings, "prop", id=name, value=value)
    ElementTree.SubElement(platform, "cluster", id="nicbed", prefix="node-", suffix="",
                           radical=f"0-{found.nodes - 1}", speed="1Gf",
                           bw=f"{1 / found.byte_gap:.9g}Bps", lat=f"{found.latency / 2:.9g}s",
                           sharing_policy="SPLITDUPLEX")
    ElementTree.indent(platform)
    return _HEAD + ElementTree.tostring(platform, encoding="unicode") + "\n"
