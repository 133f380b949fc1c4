"""The command ``nicbed``, to which each file of commands adds its own."""

from typing import Any

import click

from ..errors import UserError, nearest

__all__ = ["Commands", "nicbed"]


class Commands(click.Group):
    """Refuses an unknown command in one line, with the nearest ones."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UserError(f"no command is called {args[0]}"
                            f"{nearest(args[0], sorted(self.commands))}")
        return super().resolve_command(ctx, args)


EXITS = """Exit codes: 0 done (a failed check of a benchmark is a finding, printed and stored in the
result file, and no error); 1 a build or run failed, or a
gate does not hold; 2 the command line, a description or a file is
wrong; 70 an internal error; 130 interrupted; 141 standard output was closed."""


@click.group(cls=Commands, epilog=EXITS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nicbed", message="%(prog)s %(version)s")
def nicbed() -> None:
    """A testbed for network-interface architects: what a NIC's design does to o, g and L."""
