"""Random Verilog with all that the pass has to know: registers with and without reset on two
clocks, conditions in conditions, wide words, slices at fixed and at variable places, memories of
narrow and of wide words with two writers, inputs that all or only registers read, and wires that
one other alone reads."""

import random

__all__ = ["INPUTS", "outputs", "random_logic"]

WIDTHS = (1, 8, 30, 64, 100)
INPUTS = {**{f"i{number}": WIDTHS[number % len(WIDTHS)] for number in range(8)}, "i8": 200}
WIRES, REGISTERS, MEMORIES = 40, 24, 5


def outputs() -> dict[str, int]:
    """Names and widths of what can be seen: everything but the memories."""
    return {f"{kind}{number}": WIDTHS[number % len(WIDTHS)]
            for kind, count in (("w", WIRES), ("r", REGISTERS), ("q", MEMORIES))
            for number in range(count)}


class _Logic:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.widths = INPUTS | outputs()

    def somewhere(self, width: int, names: list[str]) -> str:
        """Some bits of ``width``, at a place that a term tells; all of them exist."""
        count = self.random.randrange(1, width // 2 + 1)
        bits = (width - count + 1).bit_length() - 1
        return f"[{bits}'({self.random.choice(names)}) +: {count}]"

    def term(self, names: list[str]) -> str:
        name = self.random.choice(names)
        width = self.widths[name]
        kind = self.random.random()
        if width > 1 and kind < 0.1:
            return name + self.somewhere(width, names)
        if width > 1 and kind < 0.4:
            low = self.random.randrange(width)
            return f"{name}[{self.random.randrange(low, width)}:{low}]"
        return name

    def value(self, names: list[str], depth: int = 2) -> str:
        if not depth:
            return self.term(names)
        one, other = (self.value(names, depth - 1) for _ in range(2))
        return self.random.choice((
            f"({one} + {other})", f"({one} ^ {other})", f"({one} & {other})", f"{{{one}, {other}}}",
            f"({self.condition(names)} ? {one} : {other})", f"({one} - {other})",
            f"({one} << {self.random.randrange(9)})", f"({one} >> {self.term(names)})"))

    def condition(self, names: list[str]) -> str:
        return self.random.choice((f"(^{self.term(names)})", f"({self.term(names)} < 9)",
                                   f"(&{self.term(names)})", f"({self.term(names)} == "
                                   f"{self.term(names)})"))

    def assignments(self, target: str, names: list[str], sign: str, deep: int = 2) -> list[str]:
        width = self.widths[target]
        if deep and self.random.random() < 0.7:
            lines = [f"if ({self.condition(names)}) begin",
                     *self.assignments(target, names, sign, deep - 1)]
            if self.random.random() < 0.5:
                lines += ["end else begin", *self.assignments(target, names, sign, deep - 1)]
            return [*lines, "end"]
        if width > 1 and self.random.random() < 0.3:
            low = self.random.randrange(width)
            high = self.random.randrange(low, width)
            place = (self.somewhere(width, names) if self.random.random() < 0.4
                     else f"[{high}:{low}]")
            return [f"{target}{place} {sign} {self.value(names)};"]
        return [f"{target} {sign} {self.value(names)};"]


def random_logic(seed: int, module: str, registered: bool = False) -> str:
    """Module ``module`` with clocks ``clk`` and ``clk_rest``, ``rst``, INPUTS, and outputs with _o
    behind their names; its logic is in a block named engine. With ``registered`` only registers and
    memories read inputs."""
    logic, inner = _Logic(seed), _Logic(seed + 1000)
    chance = logic.random
    wires = [f"w{number}" for number in range(WIRES)]
    registers = [f"r{number}" for number in range(REGISTERS)]
    reads = [f"q{number}" for number in range(MEMORIES)]
    lines = []
    for number, wire in enumerate(wires):
        known = [*(() if registered else INPUTS), *registers, *reads, *wires[:number]]
        lines += ["always_comb begin", f"{wire} = {chance.choice(('0', logic.term(known)))};",
                  *(line for _ in range(chance.randrange(1, 4))
                    for line in logic.assignments(wire, known, "="))]
        if number % 3 == 0:
            own = f"h{number}"
            inner.widths[own] = logic.widths[wire]
            lines += [f"{wire} = (^{own}) ? {wire} ^ {own} : {wire} + {own};", "end",
                      "always_comb begin", f"{own} = {inner.term(known)};",
                      *inner.assignments(own, known, "="), *inner.assignments(own, known, "=")]
        lines += ["end"]
    known = [*INPUTS, *registers, *reads, *wires]
    for register in registers:
        clock = chance.choice(("clk", "clk_rest"))
        body = [line for _ in range(chance.randrange(1, 3))
                for line in logic.assignments(register, known, "<=")]
        lines += ([f"always @(posedge {clock} or posedge rst) begin", "if (rst) begin",
                   f"{register} <= 0;", "end else begin", *body, "end", "end"])
    for number, read in enumerate(reads):
        clock = chance.choice(("clk", "clk_rest"))
        memory, width = f"m{number}", logic.widths[read]
        lines += [f"reg [{width - 1}:0] {memory} [0:15];",
                  f"initial for (int at = 0; at < 16; at = at + 1) {memory}[at] = 0;",
                  f"always @(posedge {clock}) begin"]
        for _ in range(2):
            address = f"{logic.term(known)}"
            lines += [f"if ({logic.condition(known)}) {memory}[4'({address})] <= "
                      f"{logic.value(known)};"]
        lines += [f"{read} <= {memory}[4'({logic.term(known)})];", "end"]
    ports = ["input clk", "input clk_rest", "input rst",
             *(f"input [{width - 1}:0] {name}" for name, width in INPUTS.items()),
             *(f"output [{width - 1}:0] {name}_o" for name, width in outputs().items())]
    # An output that were the variable itself would give it its name, without the block's.
    body = "\n".join([*(f"reg [{width - 1}:0] {name};\nassign {name}_o = ~{name};"
                        for name, width in outputs().items()), *lines])
    body = "\n".join(f"reg [{inner.widths[name] - 1}:0] {name};"
                     for name in inner.widths if name[0] == "h") + body
    names = ", ".join(f".{name}({name})" for name in ("clk", "clk_rest", "rst", *INPUTS,
                                                      *(f"{name}_o" for name in outputs())))
    joined = ", ".join(ports)
    return (f"module {module}_logic ({joined});\n{body}\nendmodule\nmodule {module} ({joined});\n"
            f"{module}_logic engine ({names});\nendmodule\n")
