"""The pass: writes clusters, and the conditions that wake them, as C++."""

import os
import re
from collections.abc import Iterable, Set
from itertools import groupby
from pathlib import Path

from .accesses import PURE, Statement
from .branches import MOST, branches, heard
from .clusters import Cluster, clusters
from .model import ROOT, VARIABLE, Member, Model, NotKnown, is_slow, read_model
from .own import own_variables

__all__ = ["CHECKED", "MEMBERS_ONLY", "VERSION", "checked", "evaluate_changes"]

VERSION = (5, 48)
"""The Verilator whose C++ is known. That of another one is left as it is."""

MEMBERS_ONLY = "-fno-localize"
"""Verilator's option for C++ without variables of a function, which have no value when a part of it
does not run."""

CHECKED = "NICBED_CHECK_CHANGES"
"""Variable of the environment. With the value 1, simulators are built that also run what need not
run, and end with an error if that changes anything."""

FILE_BYTES = 1 << 19
"""About so long are the files that are written."""

SMALL = 4
"""Up to so many words of an input are compared in each evaluation. Larger ones are read only when
the wrapper takes them over (:mod:`~nicbed.testbench.simulators.held_inputs`); the clusters that do
it always run."""

WORD = 64
GROUP = 8
"""So many clusters are asked together whether one of them must run. Their functions are called by
name, not by a table: its jumps take the places of Python's in the processor's prediction."""

MANY = 5
"""From so many questions on, a cluster asks first whether anything has changed at all. If each does
it, or those with few, the branches take the places of Python's in the processor's prediction."""

Woken = tuple[int, int | None]
"""A cluster, and the branch of it that must have been taken, or None."""

_KEYWORDS = {"if", "while", "return"}


def checked() -> bool:
    """Tells whether simulators are built that check themselves."""
    return os.environ.get(CHECKED) == "1"


def _type(member: Member) -> str:
    """Of a variable that is no memory, in C++."""
    return f"VlWide<{member.words}>" if member.words else member.type


class _Writer:
    """The C++ of clusters: each may be ``pending``, a bit of the model."""

    def __init__(self, model: Model, found: list[Cluster], own: list[dict[str, Member]],
                 check: bool) -> None:
        self.model = model
        self.found = found
        self.own = own
        self.check = check
        self.root = f"{model.name}{ROOT}"
        self.words = -(-len(found) // WORD)
        self.readers: dict[str, set[int]] = {}
        writers: dict[str, set[int]] = {}
        for number, cluster in enumerate(found):
            for key in cluster.reads:
                self.readers.setdefault(key, set()).add(number)
            for key in cluster.writes:
                if key.split("[")[0] not in own[number]:
                    writers.setdefault(key, set()).add(number)
        # Who writes a variable that others write, too, writes it again when they changed it.
        for key, numbers in writers.items():
            if len(numbers) > 1:
                self.readers.setdefault(key, set()).update(numbers)
        inputs = {key.split("[")[0] for key in self.readers} & model.inputs
        large = {name for name in inputs if model.members[name].words > SMALL}
        self.inputs = sorted(inputs - large)
        self.always = {number for number, cluster in enumerate(found)
                       if cluster.always or large & {key.split("[")[0] for key in cluster.reads}}
        self.branches = [branches(cluster, model.scope(model.phases[cluster.phase]),
                                  MOST if number not in self.always else 0)
                         for number, cluster in enumerate(found)]

    def woken(self, key: str, numbers: set[int]) -> frozenset[Woken]:
        """Those of the clusters ``numbers`` that a change of ``key`` wakes."""
        return frozenset((number, branch) for number in numbers
                         for branch in self.branches[number].readers.get(key, [None]))

    def wake(self, woken: Iterable[Woken]) -> str:
        """Statement that makes clusters run when they come next."""
        masks: dict[int, dict[int | None, int]] = {}
        for number, branch in woken:
            of_word = masks.setdefault(number // WORD, {})
            of_word[branch] = of_word.get(branch, 0) | 1 << number % WORD
        found = []
        for word, of_word in sorted(masks.items()):
            always = of_word.pop(None, 0)
            terms = [f"{always:#x}ULL"] if always else []
            terms += [f"({mask:#x}ULL & vlSelfRef.nicbed_heard[{word}][{branch}])"
                      for branch, mask in sorted(of_word.items())]
            found.append(f"pending[{word}] |= ({' | '.join(terms)}) & change;")
        return " ".join(found)

    def members(self) -> str:
        """Of the model: the clusters that must run, at first all, the branches that were taken, and
        its inputs as they were."""
        all_ = ", ".join(["~0ULL"] * self.words)
        lines = [f"    uint64_t nicbed_pending[{self.words}] = {{{all_}}};",
                 f"    uint64_t nicbed_heard[{self.words}][{MOST}] = {{}};"]
        lines += [f"    {_type(self.model.members[name])} nicbed_last_{name}{{}};"
                  for name in self.inputs]
        return "\n".join(lines) + "\n"

    def cluster(self, number: int) -> str:
        """Function of a cluster."""
        cluster = self.found[number]
        variables = self.model.phases[cluster.phase].variables
        lines = [f"[[gnu::noinline]] void {self.model.name}_cluster_{number}"
                 f"({self.root}* __restrict vlSelf) {{",
                 "    auto& vlSelfRef = *vlSelf;",
                 "    uint64_t* const pending = vlSelfRef.nicbed_pending;",
                 *(["    auto* const vlSymsp = vlSelf->vlSymsp;"] if cluster.always else []),
                 *(f"    {variables[name][1]}" for name in sorted(cluster.locals)),
                 *(f"    {_type(member)} {name}{{}};"
                   for name, member in self.own[number].items())]
        woken: dict[frozenset[Woken], list[str]] = {}
        for key in cluster.writes:
            numbers = self.readers.get(key, set()) - self.always
            if key not in cluster.reads:
                numbers = numbers - {number}
            if numbers and not self.model.members[key.split("[")[0]].memory:
                woken.setdefault(self.woken(key, numbers), []).append(key)
        changes = []
        differing = []
        kept = 0
        for numbers, keys in woken.items():
            differs = []
            for key in keys:
                lines.append(f"    const auto before_{kept} = vlSelfRef.{key};")
                differs.append(
                    f"(std::memcmp(&before_{kept}, &vlSelfRef.{key}, sizeof before_{kept}) != 0)"
                    if self.model.members[key.split("[")[0]].words and "[" not in key
                    else f"(before_{kept} ^ vlSelfRef.{key})")
                kept += 1
            differing += differs
            changes.append(f"    {{ const uint64_t change = -uint64_t(({' | '.join(differs)}) != "
                           f"0); {self.wake(numbers)} }}")
        told_apart = self.branches[number]
        lines += [f"    uint64_t {heard(at)} = 0;" for at in range(told_apart.count)]
        lines.append(f"    {told_apart.text(1 << number % WORD, self.marked)}")
        lines += [f"    {self.hears(number, at)}" for at in range(told_apart.count)]
        if len(changes) >= MANY:
            changes = [f"    if ({' | '.join(differing)}) [[unlikely]] {{", *changes, "    }"]
        own = self.own[number]
        return VARIABLE.sub(lambda place: place[1] if place[1] in own else place[0],
                          "\n".join([*lines, *changes, "}", ""]))

    def marked(self, one: Statement) -> str:
        """A statement in which each word that is written to a memory wakes the memory's readers."""
        text = one.text
        for name in sorted(one.memories):
            numbers = self.readers.get(name, set()) - self.always
            if not numbers:
                continue
            mark = ("{ constexpr uint64_t change = ~0ULL; "
                    f"{self.wake(self.woken(name, numbers))} }} ")
            text, count = re.subn(rf"((?:^|(?<=[;{{}}]))\s*)(vlSelfRef\.{name}\s*\[)",
                                  lambda found, mark=mark: found[1] + mark + found[2], text)
            if not count:
                raise NotKnown(text[:80])
        return text

    @staticmethod
    def hears(number: int, branch: int) -> str:
        """Statement that notes whether a branch of a cluster is taken."""
        place = f"vlSelfRef.nicbed_heard[{number // WORD}][{branch}]"
        return f"{place} = ({place} & ~{1 << number % WORD:#x}ULL) | {heard(branch)};"

    def run(self, phase: int) -> list[str]:
        """Statements that run what must run of a phase."""
        lines = []
        numbers = [at for at, cluster in enumerate(self.found) if cluster.phase == phase]
        for (always, group), together in groupby(
                numbers, lambda number: (number in self.always, number // GROUP)):
            if always:
                lines += [f"        {self.call(number)}" for number in together]
                continue
            word = f"pending[{group * GROUP // WORD}]"
            bits = {number: 1 << number % WORD for number in together}
            lines.append("        {" if self.check
                         else f"        if ({word} & {sum(bits.values()):#x}ULL) [[unlikely]] {{")
            for number, bit in bits.items():
                lines.append(f"        if ({word} & {bit:#x}ULL) {{ {word} &= ~{bit:#x}ULL; "
                             f"{self.call(number)} }}")
                if self.check:
                    lines += ["        else {", *self.checking(number), "        }"]
            lines.append("        }")
        return lines

    def call(self, number: int) -> str:
        """Statement that runs a cluster."""
        return f"{self.model.name}_cluster_{number}(vlSelf);"

    def checking(self, number: int) -> list[str]:
        """Statements that run a cluster that need not run, and end if that changes anything."""
        names = [name for name in dict.fromkeys(key.split("[")[0]
                                                for key in self.found[number].writes)
                 if name not in self.own[number]]
        return ["            uint64_t before[sizeof vlSelfRef.nicbed_pending / 8];",
                "            std::memcpy(before, pending, sizeof before);",
                "            decltype(vlSelfRef.nicbed_heard) heard;",
                "            std::memcpy(heard, vlSelfRef.nicbed_heard, sizeof heard);",
                *(f"            static thread_local decltype(vlSelfRef.{name}) was_{at}; "
                  f"std::memcpy(&was_{at}, &vlSelfRef.{name}, sizeof was_{at});"
                  for at, name in enumerate(names)),
                f"            {self.call(number)}",
                "            std::memcpy(pending, before, sizeof before);",
                "            if (std::memcmp(heard, vlSelfRef.nicbed_heard, sizeof heard)) "
                f'nicbed_missed("a branch of cluster {number}");',
                *(f"            if (std::memcmp(&was_{at}, &vlSelfRef.{name}, sizeof was_{at})) "
                  f'nicbed_missed("{name}");' for at, name in enumerate(names))]

    def noticing(self) -> list[str]:
        """Statements that wake the readers of the inputs that have changed."""
        lines = []
        for name in self.inputs:
            woken = frozenset[Woken]().union(
                *(self.woken(key, self.readers.get(key, set()) - self.always)
                  for key in self.model.members[name].keys))
            if not woken:
                continue
            last = f"vlSelfRef.nicbed_last_{name}"
            lines += [f"    if (std::memcmp(&{last}, &vlSelfRef.{name}, sizeof {last})) {{",
                      "        constexpr uint64_t change = ~0ULL;",
                      f"        {last} = vlSelfRef.{name};",
                      f"        {self.wake(woken)}", "    }"]
        return lines

    def evaluation(self) -> str:
        """The functions that are replaced."""
        model = self.model
        opening = ["    auto& vlSelfRef = *vlSelf;",
                   "    uint64_t* const pending = vlSelfRef.nicbed_pending;"]
        lines = []
        if self.check:
            lines += ["static void nicbed_missed(const char* name) {",
                      '    std::fprintf(stderr, "nicbed: a change of %s was missed\\n", name);',
                      "    std::abort();", "}", ""]
        at_once = [function for function in model.replaced if "___ico_" in function.name]
        for function in at_once:
            lines += [f"void {function.name}({self.root}* vlSelf) {{", *opening, *self.noticing()]
            if model.phases[0].mask is None:
                lines += ["    {", *self.run(0), "    }"]
            lines += ["}", ""]
        # Inputs that only clocked statements read are noticed when there is a clock.
        lines += [f"void {self.root}___eval_nba({self.root}* vlSelf) {{", *opening,
                  *([] if at_once else self.noticing()),
                  "    const uint64_t triggers = vlSelfRef.__VnbaTriggered[0U];"]
        for number, phase in enumerate(model.phases):
            if phase.mask is not None:
                lines += [f"    if (triggers & {phase.mask:#x}ULL) {{", *self.run(number), "    }"]
        return "\n".join([*lines, "}", ""])

    def declarations(self) -> str:
        """Returns what all files of clusters begin with."""
        text = "\n".join(self.model.texts.values())
        constants = rf"extern const [^;]*{self.model.name}__ConstPool__CONST_\w+;"
        clusters_ = (f"void {self.model.name}_cluster_{number}({self.root}*);"
                     for number in range(len(self.found)))
        return "\n".join([
            f'#include "{self.model.name}__pch.h"', "#include <cstring>",
            *(f"void {name}({', '.join(parameters)});"
              for name, parameters in self.model.outside.items()),
            *dict.fromkeys(re.findall(constants, text)), *clusters_, ""])


def _without(model: Model, file: Path) -> str:
    """The text of a file without the functions that are replaced."""
    text = model.texts[file]
    for function in sorted(model.replaced, key=lambda function: -function.span[0]):
        if function.file == file:
            begin, end = function.span
            text = (f"{text[:begin]}void {function.name}({model.name}{ROOT}* vlSelf);"
                    f"{text[end:]}")
    return text


def _settling(model: Model, texts: dict[Path, str]) -> None:
    """Give what runs before the first evaluation, when all is still to run, the functions as they
    were."""
    for function in model.replaced:
        call = re.compile(rf"\b{function.name}(?=\()")
        callers = [file for file in texts if is_slow(file) and f"{function.name}(" in texts[file]
                   and call.search(texts[file])]
        for file in callers:
            texts[file] = call.sub(f"{function.name}__settle", texts[file])
        if callers:
            begin, end = function.span
            texts[function.file] += call.sub(f"{function.name}__settle",
                                             model.texts[function.file][begin:end]) + "\n"


_OF_MODEL = re.compile(r"(?:vlSelf(?:Ref\.|->)|vlSymsp->TOP\.)(\w+)")
_ASSIGNED = re.compile(rf"\s*{_OF_MODEL.pattern}\s*(?:\[[^=]*\]\s*)?=(?!=)")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_CHANGES = re.compile(r"\+\+|--|(?<![=<>!])=(?!=)|&\s*vlS(?:elf|ymsp)\S*\s*[,)]")
"""What changes a variable, or hands its address on."""


def _perhaps_written(text: str) -> set[str]:
    """Variables that occur in ``text`` other than in a value or a condition."""
    found = set[str]()
    for part in re.split(r"[;{}]", re.sub(r"^\s*(?:#|//).*$", "", text, flags=re.MULTILINE)):
        if assigned := _ASSIGNED.match(part):
            found.add(assigned[1])
            part = part[assigned.end():]
        if _CHANGES.search(part) or not PURE | _KEYWORDS >= set(_CALLED.findall(part)):
            found.update(_OF_MODEL.findall(part))
    return found


def _written_elsewhere(texts: dict[Path, str]) -> set[str]:
    """Variables that what stays of the evaluation may write."""
    return set[str]().union(*(_perhaps_written(text) for file, text in texts.items()
                              if not is_slow(file)))


_FINAL = re.compile(rf"^\S.*{ROOT}___eval_final\w*\([^)]*\) \{{.*?^\}}", re.MULTILINE | re.DOTALL)
"""A function of what is done at the end."""


def _used(texts: dict[Path, str]) -> set[str]:
    """Variables that what stays of the evaluation uses, or what is done at the end."""
    found = set[str]()
    for file, text in texts.items():
        if file.suffix == ".cpp":
            for part in _FINAL.findall(text) if is_slow(file) else [text]:
                found.update(_OF_MODEL.findall(part))
    return found


def evaluate_changes(work: Path, name: str, blocks: Set[str], *, check: bool = False
                     ) -> list[Path]:
    """Rewrite the C++ of model ``name``, which Verilator wrote to ``work``, so that of ``blocks``
    it evaluates what has changed. Each port, and each variable that anything else in the model
    reads, gets the values that it got before.

    Parameters
    ----------
    blocks
        Names of instances anywhere in the model.
    check
        Run the rest, too, and end with an error if that changes anything.

    Returns
    -------
    list of Path
        Further files to compile.

    Raises
    ------
    NotKnown
        The C++ has a form that is not known, or one of the blocks has no variables in it. It is as
        it was.
    """
    model = read_model(work, name)
    named = {part for member in model.members for part in member.split("__DOT__")[1:-1]}
    if missing := blocks - named:
        raise NotKnown(f"no block {min(missing)}")
    found = clusters(model, blocks)
    texts = {file: _without(model, file) for file in model.texts}
    accessed = {key.split("[")[0] for cluster in found
                for key in cluster.reads | cluster.writes.keys()}
    if strange := _written_elsewhere(texts) & accessed:
        raise NotKnown(f"{min(strange)} is written elsewhere")
    writer = _Writer(model, found, own_variables(model, found, _used(texts)), check)
    _settling(model, texts)
    functions = [writer.cluster(number) for number in range(len(found))]
    functions.append(writer.evaluation())
    files: list[list[str]] = [[]]
    for text in functions:
        if sum(map(len, files[-1])) > FILE_BYTES:
            files.append([])
        files[-1].append(text)
    begin = writer.declarations()
    header = work / f"{name}{ROOT}.h"
    place = texts[header].rindex("    // CONSTRUCTORS")
    texts[header] = texts[header][:place] + writer.members() + texts[header][place:]
    for file, text in texts.items():
        file.write_text(text)
    written = [work / f"{name}_clusters_{at}.cpp" for at in range(len(files))]
    for file, parts in zip(written, files, strict=True):
        file.write_text(begin + "\n".join(parts))
    return written
