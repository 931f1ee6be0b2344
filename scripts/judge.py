#!/usr/bin/env python3
"""Compares an allocated RIR program with the one before allocation by running both: judge.py BEFORE.rir AFTER.rir.

Written from ir/FORMAT.md alone, it shares nothing with the judges in oracles/. First the contract for an allocator is checked as
far as the text shows it, then both programs run in lockstep along the same random paths. Each byte is an opaque number: what an
operation computes is a hash of the operation and its operands, so two bytes are equal only where they hold the same value.

  before   each byte of a vreg's storage is known or undefined (None)
  after    registers and frames hold junk until they are written; where a value is undefined, junk is written

Wherever the program before reads a known byte, the one after must read the same. Paths are steered towards edges not yet taken.
The rule on uniform registers is not checked.
Exit status: 0 no difference, 1 a difference, 2 bad input. One line a fault:  FUNCTION: #ID operand K: message
"""

import argparse
import collections
import fractions
import functools
import hashlib
import json
import pathlib
import random
import re
import sys

# FORMAT.md leaves the tables of the shipped targets to the targets. These were found by asking `regduel verify` about programs of
# one def, for every register of every file: the registers that it accepts, and those that it wants back at the `ret` of a device
# function. No register below these sizes is reserved.
UNITS = {"R": 255, "P": 7, "B": 16, "UR": 63, "UP": 7, "UB": 16, "ACC": 512}
FILES_MISSING = {"sm_70": ("UR", "UP", "UB", "ACC")}
WITH_ACC = ("sm_100", "sm_103", "sm_110")
SHIPPED = {f"sm_{n}" for n in (70, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121)}
CALLEE_SAVED = {
    "seed": [("R", n) for n in range(24, 32)],
    "cuda": [("R", 2)] + [("R", n) for n in range(16, 255) if n < 32 or n % 8 >= 4] + [("UR", n) for n in range(36, 63)],
}

FILE_OF = {"R": "R", "Ralt": "R", "UR": "UR", "URext": "UR", "P": "P", "UP": "UP", "ACC": "ACC", "B": "B", "UB": "UB"}
PREDICATES = ("P", "UP")
UNITS_OF_VREGS = (1, 2, 3, 4, 8)
PART_BYTES = {"b": 1, "h": 2, "w": 4, "d": 8, "q": 16}
TERMINATORS = {"ret", "exit", "bra", "cbra", "mbra"}
MOVES = {"copy", "pack", "unpack"}
INSERTED = {"copy", "spill", "refill", "p2r", "r2p", "bit_spill", "bit_refill", "remat", "bra"}
STEPS = {"getlmembase", "spill_mov", "spill_iadd", "spill_imad", "spill_shl", "spill_lop3"}  # of lowered spills: to A
LOWERED = STEPS | {"setlmembase", "spill_bra", "spill_stl", "spill_ldl", "spill_sts", "spill_lds"}
KEYWORDS = INSERTED | LOWERED | TERMINATORS | MOVES | {"phi", "const", "call", "bar"}
FLAGS = {"read", "write", "readonly", "barrier", "remat", "commutative", "convergent", "deleted"}
LOCAL, SHARED = "local", "shared"
ACCESSES = {"spill_stl": ("spill", LOCAL), "spill_ldl": ("refill", LOCAL), "spill_sts": ("spill", SHARED), "spill_lds": ("refill", SHARED)}
PHASE, MASK = "__nv_reservedSMEM_allocation_phase", "__nv_reservedSMEM_allocation_mask"
SKIPPED, DONE, UNKNOWN = range(3)  # whether a guarded instruction happens
MOST_FAULTS = 20  # of one function and one kind


class BadInput(Exception):
    pass


class Record:
    """A bag of named fields."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


# --- Reading -------------------------------------------------------------------------------------------------------------------

STRING = r'"(?:\\.|[^"\\])*"'
FILE = r"(?:UR|UP|UB|ACC|R|P|B)"
PREG = rf"({FILE})(\d+)(?!\w)"
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def unquoted(text):
    if not text.startswith('"'):
        return text
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: ESCAPES.get(m[1]) or chr(int(m[1][1:], 16)), text[1:-1])


@functools.cache
def compiled(pattern):
    return re.compile(r"[ \t]*(?:" + pattern + ")")


class Line:
    def __init__(self, text, file, number, halves=False):
        self.halves = halves  # two predicates to a register
        self.text = re.match(rf'(?:{STRING}|[^"/]|/(?!/)|")*', text)[0].rstrip()
        self.where = f"{file}:{number}"
        self.at = 0

    def take(self, pattern):
        match = compiled(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def need(self, pattern, what):
        match = self.take(pattern)
        if not match:
            self.fail(f"expected {what}, found '{self.text[self.at:].strip() or 'the end of the line'}'")
        return match

    def number(self, what):
        return int(self.need(r"(\d+)(?!\w)", what)[1])

    def string(self):
        return unquoted(self.need(f"({STRING})", "a string")[1])

    def end(self):
        if self.text[self.at:].strip():
            self.fail(f"expected the end of the line, found '{self.text[self.at:].strip()}'")

    def fail(self, message):
        raise BadInput(f"{self.where}: {message}")


def one_register(line, file, number):
    """The first unit, and the one behind the last."""
    if not line.halves or file not in PREDICATES:
        return number, number + 1
    half = line.take(r"\.(lo|hi)(?!\w)")
    first = 2 * number + (half is not None and half[1] == "hi")
    return first, first + (1 if half else 2)


def preg_of(line, match, first_group=1):
    file = match[first_group]
    first, end = one_register(line, file, int(match[first_group + 1]))
    if line.take(rf":(?={FILE}\d)"):
        other = line.need(PREG, "a register")
        last, end = one_register(line, other[1], int(other[2]))
        if other[1] != file or last < first:
            line.fail("no tuple of registers")
    return file, first, end - first


def read_preg(line):
    return preg_of(line, line.need(PREG, "a register"))


def try_reg(line):
    """A register operand, or None."""
    match = line.take(rf"(?:%(\d+)|{PREG})")
    if not match:
        return None
    reg = Record(vreg=int(match[1]) if match[1] else None, preg=None, part=None, negated=False,
                 fixed=None, early=False, inout=False, tied=None)
    if not match[1]:
        reg.preg = preg_of(line, match, 2)
    part = line.take(r"\.(lo|hi|[bhwdq]\d+)(?!\w)")
    reg.part = part[1] if part else None
    if line.take(r"\{"):
        while True:
            read_attribute(line, reg)
            if not line.take(","):
                break
        line.need(r"\}", "'}'")
    return reg


def read_attribute(line, reg):
    if line.take("="):
        reg.fixed = read_preg(line)
    elif line.take(r"tied\b"):
        reg.tied = line.number("an operand number")
    else:
        setattr(reg, line.need(r"(early|inout)\b", "an attribute")[1], True)


def read_use(line, phi):
    if phi:
        source = int(line.need(r"b(\d+)[ \t]*:", "a predecessor")[1])
        reg = try_reg(line)
        if not reg:
            line.fail("expected a register")
        reg.source = source
        return reg
    if match := line.take(r"slot[ \t]+(\d+)(?:[ \t]*\+[ \t]*(\d+))?"):
        return ("slot", int(match[1]), int(match[2] or 0))
    if match := line.take(r"(-?(?:0x[0-9a-fA-F]+|\d+))(?!\w)"):
        return ("integer", int(match[1], 16 if "x" in match[1] else 10))
    if match := line.take(f"({STRING})"):
        return ("string", unquoted(match[1]))
    negated = bool(line.take("!"))
    reg = try_reg(line)
    if not reg:
        line.need("(?!)", "an operand")
    reg.negated = negated
    return reg


def read_defs(line):
    start, defs = line.at, []
    while reg := try_reg(line):
        defs.append(reg)
        if not line.take(","):
            break
    if line.take("="):
        return defs
    line.at = start
    return []


def read_list(line, item):
    items = [item(line)]
    while line.take(","):
        items.append(item(line))
    return items


def read_instruction(line, sign, number):
    inst = Record(id=number, inserted=sign == "+", guard=None, uses=[], clobbers=[], targets=[], flags=set(), mnemonic=None,
                  where=line.where, label=f"{sign}{number}")
    if line.take("@"):
        negated = bool(line.take("!"))
        inst.guard = try_reg(line)
        if not inst.guard:
            line.fail("expected a guard")
        inst.guard.negated = negated
    inst.defs = read_defs(line)
    op = line.need(rf"({STRING}|[A-Za-z_][\w.:]*)", "an operation")[1]
    inst.op = unquoted(op)
    inst.named = op.startswith('"') or inst.op not in KEYWORDS
    if line.take("<"):
        inst.mnemonic = unquoted(line.need(rf"({STRING}|[A-Za-z_][\w.:]*)", "a mnemonic")[1])
        line.need(">", "'>'")
    ref = line.take(r"#(\d+)")
    inst.ref = int(ref[1]) if ref else None
    if not line.take(rf"(?=clobbers\b|->|![a-z]|$)"):
        inst.uses = read_list(line, lambda text: read_use(text, inst.op == "phi" and not inst.named))
    if line.take(r"clobbers\b"):
        inst.clobbers = read_list(line, read_preg)
    if line.take("->"):
        inst.targets = read_list(line, lambda text: int(text.need(r"b(\d+)", "a block")[1]))
    while match := line.take(r"!([a-z]+)"):
        if match[1] == "line":
            line.need(rf"{STRING}\s*\d+(\s*:\s*\d+)?", "a file and a line")
            continue
        if match[1] not in FLAGS:
            line.fail(f"no flag '{match[1]}'")
        inst.flags.add(match[1])
    line.end()
    inst.terminator = not inst.named and inst.op in TERMINATORS
    return inst


def read_vreg_line(line, function):
    if int(line.need(r"%(\d+)", "a vreg")[1]) != len(function.vregs):
        line.fail("vregs are numbered from 0, in order")
    vreg = Record(where=line.where, align=None, alias=None, fixed=None, hint=None, uniform=False, architectural=False, name=None)
    vreg.register_class = line.need(r"([A-Za-z]+)\b", "a register class")[1]
    if vreg.register_class not in FILE_OF:
        line.fail(f"no register class '{vreg.register_class}'")
    vreg.type = line.need(r"(pred|[bsuf](?:8|16|32|64|96|128|256))(?!\w)", "a type")[1]
    while match := line.take(r"(align|alias|fixed|hint|uniform|architectural|name)\b"):
        if match[1] == "align":
            vreg.align = line.number("units")
        elif match[1] == "alias":
            root = int(line.need(r"%(\d+)", "a vreg")[1])
            part = line.take(r"\.(lo|hi|[bhwdq]\d+)(?!\w)")
            vreg.alias = (root, part[1] if part else None)
        elif match[1] == "fixed":
            vreg.fixed = read_preg(line)
        elif match[1] == "hint":
            vreg.hint = int(line.need(r"%(\d+)", "a vreg")[1])
        elif match[1] == "name":
            vreg.name = line.string()
        else:
            setattr(vreg, match[1], True)
    line.end()
    function.vregs.append(vreg)


def read_frame(line, function):
    line.need("local", "'local'")
    function.frames[LOCAL] = line.number("bytes")
    line.need("shared", "'shared'")
    function.frames[SHARED] = line.number("bytes")
    line.end()


def read_slot(line, function):
    if line.number("a slot") != len(function.slots):
        line.fail("slots are numbered from 0, in order")
    slot = Record(where=line.where, space=line.need(r"(local|shared)\b", "local or shared")[1])
    for field in ("size", "align", "offset"):
        line.need(field, f"'{field}'")
        setattr(slot, field, line.number("bytes"))
    line.end()
    function.slots.append(slot)


def read_block(line, function):
    if int(line.need(r"b(\d+)", "a block")[1]) != len(function.blocks):
        line.fail("blocks are numbered from 0, in order")
    block = Record(where=line.where, edge=None, depth=None, freq=None, insts=[], number=len(function.blocks))
    while match := line.take(r"(depth|freq|edge|name)\b"):
        if match[1] == "edge":
            ends = line.need(r"b(\d+)[ \t]*->[ \t]*b(\d+)", "an edge")
            block.edge = (int(ends[1]), int(ends[2]))
        elif match[1] == "name":
            line.string()
        else:
            setattr(block, match[1], line.need(r"([\d.]+)", "a number")[1])
    line.end()
    function.blocks.append(block)


def read_function(line):
    name = line.need(rf"@({STRING}|[\w$.]+)", "a name")[1]
    function = Record(name=unquoted(name), where=line.where, vregs=[], slots=[], blocks=[], frames={LOCAL: 0, SHARED: 0})
    function.kind = line.need(r"(kernel|device)\b", "kernel or device")[1]
    function.target = line.need(rf"target[ \t]+({STRING}|[\w.$-]+)", "a target")[1]
    line.need("threads", "'threads'")
    function.threads = line.number("a number of threads")
    function.abi = line.need(r"(seed|cuda)\b", "seed or cuda")[1] if line.take(r"abi\b") else "seed"
    function.predicate_halves = bool(line.take(r"predicate_halves\b"))
    function.allocated = bool(line.take(r"allocated\b"))
    if line.take(r"frame\b"):
        read_frame(line, function)
    line.end()
    return function


def read_program(text, file):
    """The functions of a file, by name."""
    functions, current, version = {}, None, None
    for number, content in enumerate(text.split("\n"), 1):
        line = Line(content, file, number, current is not None and current.predicate_halves)
        if not line.text.strip():
            continue
        if version is None:
            line.need(r"rir\b", "'rir'")
            version = line.number("a version")
            if version != 1:
                line.fail(f"no version {version}")
            line.end()
        elif line.take(r"func\b"):
            current = read_function(line)
            if current.name in functions:
                line.fail(f"@{current.name} stands here twice")
            functions[current.name] = current
        elif current is None:
            line.fail("expected a function")
        elif match := line.take(r"(frame|vreg|slot|block)\b"):
            {"frame": read_frame, "vreg": read_vreg_line, "slot": read_slot, "block": read_block}[match[1]](line, current)
        else:
            match = line.need(r"([#+])(\d+)", "an instruction")
            if not current.blocks:
                line.fail("an instruction outside of a block")
            current.blocks[-1].insts.append(read_instruction(line, match[1], int(match[2])))
    if version is None:
        raise BadInput(f"{file}:1: expected 'rir'")
    for function in functions.values():
        check_blocks(function)
    return functions


def check_blocks(function):
    seen = set()
    if not function.blocks:
        raise BadInput(f"{function.where}: @{function.name} has no blocks")
    for block in function.blocks:
        for k, inst in enumerate(block.insts):
            if inst.id in seen:
                raise BadInput(f"{inst.where}: instruction {inst.id} stands here twice")
            seen.add(inst.id)
            if inst.terminator != (k + 1 == len(block.insts)):
                raise BadInput(f"{inst.where}: a block ends with its only terminator")
            if any(t >= len(function.blocks) for t in inst.targets):
                raise BadInput(f"{inst.where}: no such block")
        if not block.insts:
            raise BadInput(f"{block.where}: a block without instructions")


# --- Registers and bytes -------------------------------------------------------------------------------------------------------

def part_range(part, size):
    """Where a part lies in `size` bytes, as (offset, bytes); None where there is no such part."""
    if part is None:
        return 0, size
    if part in ("lo", "hi"):
        if size < 2 or size & (size - 1):
            return None
        return (0 if part == "lo" else size // 2), size // 2
    length = PART_BYTES[part[0]]
    offset = int(part[1:]) * length
    return (offset, length) if offset + length <= size else None


def bytes_of_units(file, count):
    return count if file in PREDICATES else 4 * count


def units_of(preg):
    return {(preg[0], preg[1] + k) for k in range(preg[2])}


def text_of(preg, halves=False):
    file, first, count = preg
    last = first + count - 1
    if not halves or file not in PREDICATES:
        names = f"{file}{first}", f"{file}{last}"
    elif first % 2 == 0 and last % 2 == 1:
        names = f"{file}{first // 2}", f"{file}{last // 2}"
    else:
        names = tuple(f"{file}{unit // 2}.{'hi' if unit % 2 else 'lo'}" for unit in (first, last))
    return names[0] if names[0] == names[1] else ":".join(names)


def default_align(units):
    return {1: 1, 2: 2, 3: 4, 4: 4, 8: 8}[units]


class Target:
    def __init__(self, name, description=None):
        if description is not None:
            self.units = description.get("units", {})
            self.predicate_halves = description.get("predicate_halves", False)
            units_in = functools.partial(units_named, halves=self.predicate_halves)
            self.reserved = units_in(description.get("reserved", []))
            by_name = {abi: description.get("abi", {}) | description.get("abis", {}).get(abi, {}) for abi in CALLEE_SAVED}
            self.callee_saved = {abi: sorted(units_in(d.get("callee_saved", []))) for abi, d in by_name.items()}
            return
        missing = FILES_MISSING.get(name, () if name in WITH_ACC else ("ACC",))
        self.units = {f: n for f, n in UNITS.items() if f not in missing}
        self.predicate_halves = False
        self.reserved = set()
        self.callee_saved = {abi: [u for u in kept if u[0] in self.units] for abi, kept in CALLEE_SAVED.items()}


def units_named(texts, halves):
    return set().union(*(units_of(read_preg(Line(text, "target", 1, halves))) for text in texts)) if texts else set()


class Before:
    """The program over vregs: where the bytes of each operand are in one array of all storages."""

    def __init__(self, function):
        self.function = function
        self.size = 0
        for vreg in function.vregs:
            vreg.bytes = 1 if vreg.type == "pred" else int(vreg.type[1:]) // 8
            vreg.units = 1 if vreg.type == "pred" else (vreg.bytes + 3) // 4
            vreg.file = FILE_OF[vreg.register_class]
            if (vreg.type == "pred") != (vreg.file in PREDICATES):
                raise BadInput(f"{vreg.where}: a {vreg.type} in class {vreg.register_class}")
            if vreg.align is None:
                vreg.align = default_align(vreg.units)
            if vreg.alias is None:
                vreg.base = self.size
                self.size += vreg.bytes
        for vreg in function.vregs:
            vreg.root, vreg.offset = self.root_of(vreg)
        self.insts = {i.id: i for block in function.blocks for i in block.insts}
        for inst in self.insts.values():
            self.place_operands(inst)
        self.check_phis()

    def check_phis(self):
        """A phi has one use for each distinct predecessor."""
        blocks = self.function.blocks
        sources = {b.number: set() for b in blocks}
        for block in blocks:
            for target in block.insts[-1].targets:
                sources[target].add(block.number)
        for block in blocks:
            for inst in block.insts:
                if inst.op == "phi" and not inst.named:
                    named = [u.source for u in inst.uses]
                    if len(inst.defs) != 1 or sorted(named) != sorted(sources[block.number]):
                        raise BadInput(f"{inst.where}: a phi has one use for each predecessor")

    def root_of(self, vreg):
        at, offset, size = vreg, 0, vreg.bytes
        for _ in self.function.vregs:
            if at.alias is None:
                return at, offset
            number, part = at.alias
            if number >= len(self.function.vregs):
                break
            at = self.function.vregs[number]
            place = part_range(part, at.bytes)
            if place is None or place[1] != size:
                raise BadInput(f"{vreg.where}: an alias is as wide as what it stands for")
            offset, size = offset + place[0], at.bytes
        raise BadInput(f"{vreg.where}: an alias of nothing")

    def place_operands(self, inst):
        if inst.inserted or not inst.named and inst.op in INSERTED - {"copy", "bra"}:
            raise BadInput(f"{inst.where}: an inserted instruction before allocation")
        for reg in registers_of(inst):
            if reg.vreg is None or reg.vreg >= len(self.function.vregs):
                raise BadInput(f"{inst.where}: an operand that is no vreg")
            vreg = self.function.vregs[reg.vreg]
            place = part_range(reg.part, vreg.bytes)
            if place is None:
                raise BadInput(f"{inst.where}: no part .{reg.part} of %{reg.vreg}")
            reg.root = vreg.root
            reg.offset, reg.length = vreg.offset + place[0], place[1]
            reg.whole = reg.offset == 0 and reg.length == vreg.root.bytes
            reg.narrow = reg.part is None and vreg.alias is None and vreg.bytes < 4 and vreg.type != "pred"
            reg.start = vreg.root.base + reg.offset
            reg.home = reg.fixed or vreg.fixed or vreg.root.fixed
        if not inst.named and inst.op in MOVES:
            check_move(inst)


def registers_of(inst):
    return [*inst.defs, *(u for u in inst.uses if isinstance(u, Record)), *([inst.guard] if inst.guard else [])]


def check_move(inst):
    sizes = [[r.length for r in inst.defs], [r.length if isinstance(r, Record) else None for r in inst.uses]]
    if inst.op == "copy" and sizes[0] != sizes[1] or None in sizes[1] or sum(sizes[0]) != sum(sizes[1]):
        raise BadInput(f"{inst.where}: {inst.op} of different widths")


# --- Lowered spills ------------------------------------------------------------------------------------------------------------

class Lowered:
    """Takes the lowered spills of an allocated program back, in place. An address register holds (space, scale, bytes, masked): scale
    times where the frame begins there, plus bytes; or it is not in the state. The state is followed along all paths. Under the
    key None it has the base of local memory: bytes from where it was at the entry."""

    # Operands: a an address register, r a register, n a number, s a symbol; defs before the colon.
    SHAPES = {"getlmembase": "a:n", "setlmembase": ":an", "spill_mov": "a:s", "spill_iadd": "a:an", "spill_imad": "a:ann",
              "spill_shl": "a:an", "spill_lop3": "a:as", "spill_bra": ":n", "spill_stl": ":ran", "spill_ldl": "r:an",
              "spill_sts": ":ran", "spill_lds": "r:an"}

    def __init__(self, before, after, target, limits):
        self.before, self.after, self.target, self.limits = before, after, target, limits
        self.faults = []  # instruction, operand, message
        self.every = [i for block in after.blocks for i in block.insts]
        if not any(self.is_lowered(i) for i in self.every):
            return
        if not all([self.has_shape(i) for i in self.every]):
            return
        self.holders = {i.defs[0].preg for i in self.every if self.is_step(i)}
        self.check_holders()
        entries = self.solve()
        for block in after.blocks:
            block.insts = self.through(block, dict(entries.get(block.number, {None: 0})), True)

    def fault(self, inst, operand, message):
        if (inst, operand, message) not in self.faults:
            self.faults.append((inst, operand, message))

    @staticmethod
    def is_lowered(inst):
        return not inst.named and inst.op in LOWERED

    @staticmethod
    def is_step(inst):
        return not inst.named and inst.op in STEPS

    @staticmethod
    def is_access(inst):
        return not inst.named and inst.op in ACCESSES

    def has_shape(self, inst):
        if not self.is_lowered(inst):
            return True
        every = [*inst.defs, None, *inst.uses]
        good = len(every) == len(self.SHAPES[inst.op]) and not inst.targets and not inst.flags
        good = good and all(self.is_like(o, letter) for o, letter in zip(every, self.SHAPES[inst.op]))
        good = good and (self.is_access(inst) or inst.inserted and not inst.clobbers and bool(inst.guard) == (inst.op == "spill_bra"))
        if not good:
            self.fault(inst, None, f"operands that {inst.op} does not take")
        return good

    @staticmethod
    def is_like(operand, letter):
        if letter == ":" or operand is None:
            return letter == ":" and operand is None
        if isinstance(operand, tuple):
            return operand[0] == {"n": "integer", "s": "string"}.get(letter)
        is_plain = operand.preg is not None and not operand.negated and not operand.inout
        return is_plain and (letter == "r" or letter == "a" and operand.part is None and operand.preg[::2] == ("R", 1))

    def check_holders(self):
        """Address registers may hold addresses, and hold nothing else."""
        units = {("R", first) for _, first, _ in self.holders}
        top = min(self.target.units["R"], self.limits.get("R", 255))
        barred = set(self.target.reserved).union(*(units_of(v.fixed) for v in self.before.vregs if v.architectural and v.fixed))
        if self.before.kind == "device":
            clobbered = set().union(*(units_of(c) for b in self.before.blocks for i in b.insts for c in i.clobbers))
            barred |= set(self.target.callee_saved[self.before.abi]) - clobbered
        for inst in self.every:
            if self.is_step(inst) and (inst.defs[0].preg[1] >= top or units_of(inst.defs[0].preg) & barred):
                self.fault(inst, 0, f"{text_of(inst.defs[0].preg)} may hold no address")
            for k, reg in operands_of(inst):
                is_address = self.is_lowered(inst) and k < len(self.SHAPES[inst.op]) - 1 and self.letter(inst, k) == "a"
                if reg.preg and not is_address and units_of(reg.preg) & units:
                    self.fault(inst, k, f"{text_of(reg.preg)} holds addresses")

    def letter(self, inst, k):
        return self.SHAPES[inst.op].replace(":", "")[k]

    def solve(self):
        entries, work = {0: {None: 0}}, [0]
        while work:
            block = self.after.blocks[work.pop()]
            state = dict(entries[block.number])
            self.through(block, state, False)
            for to in block.insts[-1].targets:
                met = self.met(entries[to], state) if to in entries else dict(state)
                if to not in entries or met != entries[to]:
                    entries[to] = met
                    work.append(to)
        return entries

    @staticmethod
    def met(one, other):
        return {r: v for r, v in one.items() if r in other and other[r] == v}

    def through(self, block, state, is_last):
        """Changes the state; the instructions that are left. Faults are told in the last pass."""
        kept, jump, skipped = [], None, None  # the branch that jumps over what follows, and where that ends; the state there
        told = self.faults[:]
        for k, inst in enumerate(block.insts):
            if jump and k == jump[1]:
                for gone in [r for r in state if skipped.get(r, ...) != state[r]]:
                    del state[gone]
                jump = None
            if not inst.named and inst.op == "spill_bra":
                end = self.end_of_jump(block, k)
                jump, skipped = ((inst, end), dict(state)) if end else (None, None)
            elif self.is_step(inst):
                self.put(state, inst.defs[0].preg, self.value(inst, state))
            elif not inst.named and inst.op == "setlmembase":
                self.set_base(inst, state)
            elif self.is_access(inst):
                self.take_back(inst, jump[0].guard if jump else None, state, kept)
            else:
                self.check_base(inst, state)
                kept.append(inst)
            written = [r.preg for r in inst.defs if r.preg and not self.is_step(inst)] + inst.clobbers
            for gone in [r for r in state if r and any(units_of(r) & units_of(w) for w in written)]:
                del state[gone]
        if not is_last:
            self.faults = told
        return kept

    def end_of_jump(self, block, at):
        length = block.insts[at].uses[0][1]
        over = block.insts[at + 1:at + 1 + max(length, 0)]
        if length < 1 or at + 1 + length >= len(block.insts) or not all(self.is_step(i) for i in over[:-1]) or \
                not self.is_access(over[-1]) or over[-1].guard:
            self.fault(block.insts[at], 0, "jumps over anything but an address and then one access without a guard")
            return None
        return at + 1 + length

    @staticmethod
    def put(state, register, value):
        state.pop(register, None)
        if value is not None:
            state[register] = value

    def value(self, inst, state):
        number = [u[1] for u in inst.uses if isinstance(u, tuple)]
        if inst.op == "getlmembase":
            base = state.get(None)
            return None if number[0] not in (1, 2, 4, 8, 16) or base is None else \
                (LOCAL, fractions.Fraction(1, number[0]), fractions.Fraction(base, number[0]), False)
        if inst.op == "spill_mov":
            return (SHARED, fractions.Fraction(1, 4), fractions.Fraction(0), False) if number[0] == PHASE else None
        held = state.get(inst.uses[0].preg)
        if held is None:
            return None
        space, scale, plus, _ = held
        if inst.op == "spill_lop3":
            is_address = space == SHARED and scale == 1 and 0 <= plus <= self.after.frames[SHARED]
            return (space, scale, plus, True) if number[0] == MASK and is_address else None
        if inst.op == "spill_iadd":
            return space, scale, plus + number[0], False
        if inst.op == "spill_imad":
            return (space, scale * number[0], plus * number[0] + number[1], False) if number[0] > 0 else None
        return (space, scale * 2 ** number[0], plus * 2 ** number[0], False) if 0 <= number[0] < 32 else None

    def set_base(self, inst, state):
        stride, held = inst.uses[1][1], state.get(inst.uses[0].preg)
        is_base = stride in (1, 2, 4, 8, 16) and held and held[:2] == (LOCAL, fractions.Fraction(1, stride))
        self.put(state, None, held[2] * stride if is_base else None)
        if not is_base:
            self.fault(inst, 0, "is not known to be a base of local memory in these strides")

    def check_base(self, inst, state):
        base = state.get(None)
        is_call = not inst.named and inst.op == "call" and "deleted" not in inst.flags
        if is_call and (base is None or base < self.after.frames[LOCAL] or base % 16):
            self.fault(inst, None, "the callee does not find a base of local memory behind the frame")
        if not inst.named and inst.op == "ret" and base != 0:
            self.fault(inst, None, "the base of local memory is not what it was at the entry")

    def take_back(self, inst, skip, state, kept):
        op, space = ACCESSES[inst.op]
        reg, address, number = (inst.uses if op == "spill" else [*inst.defs, *inst.uses])
        held, slot = state.get(address.preg), None
        if held and held[:2] == (space, 1) and (space == LOCAL or held[3]):
            at = held[2] + number[1]
            place = part_range(reg.part, bytes_of_units(reg.preg[0], reg.preg[2]))
            size = place[1] if place else 0
            slot = next(((k, int(at - s.offset)) for k, s in enumerate(self.after.slots)
                         if s.space == space and s.offset <= at and at + size <= s.offset + s.size), None)
        if slot is None:
            self.fault(inst, None, f"does not find an address within one slot of {space} memory")
            if inst.inserted:
                return
            slot = (len(self.after.slots), 0)  # none: the contract says so
        raised = Record(**vars(inst))
        raised.op, raised.uses = op, ([reg] if op == "spill" else []) + [("slot", *slot)]
        if skip:
            raised.guard = Record(**vars(skip))
            raised.guard.negated = not skip.negated
        kept.append(raised)


# --- The contract --------------------------------------------------------------------------------------------------------------

class Contract:
    """What the text shows of the contract for an allocator. `broken`: so much is wrong that there is nothing to run."""

    def __init__(self, before, after, target, limits, faults=()):
        self.before, self.after, self.target = before, after, target
        self.limits = {f: min(n, limits.get(f, n)) for f, n in target.units.items()}
        self.callee_saved = target.callee_saved[before.function.abi]
        self.faults = Faults(after.name)
        self.broken = False
        self.architectural = set().union(*(units_of(v.fixed) for v in before.function.vregs if v.architectural and v.fixed))
        self.chains = {}
        for inst, operand, message in faults:
            self.fault(inst, operand, message)
        self.check()

    def fault(self, inst, operand, message, broken=False):
        self.faults.add("contract", inst, operand, message)
        self.broken |= broken

    def text_of(self, preg):
        return text_of(preg, self.before.function.predicate_halves)

    def check(self):
        b, a = self.before.function, self.after
        if (b.kind, b.target, b.threads, b.abi, b.predicate_halves) != (a.kind, a.target, a.threads, a.abi, a.predicate_halves):
            self.fault(None, None, "kind, target, threads, ABI or predicate_halves changed")
        if [declaration_of(v) for v in b.vregs] != [declaration_of(v) for v in a.vregs]:
            self.fault(None, None, "vreg declarations changed")
        self.check_slots()
        if not self.check_blocks():
            self.broken = True
            return
        self.check_edges()
        for block in a.blocks:
            for inst in block.insts:
                if inst.inserted:
                    self.check_inserted(inst, block)
                else:
                    self.check_original(self.before.insts[inst.id], inst)

    def check_slots(self):
        taken = {LOCAL: set(), SHARED: set()}
        for k, slot in enumerate(self.after.slots):
            place = set(range(slot.offset, slot.offset + slot.size))
            if slot.offset + slot.size > self.after.frames[slot.space]:
                self.fault(None, None, f"slot {k} lies outside of the frame")
            if slot.align == 0 or slot.offset % slot.align:
                self.fault(None, None, f"slot {k} is not aligned")
            if place & taken[slot.space]:
                self.fault(None, None, f"slot {k} overlaps another")
            taken[slot.space] |= place

    def check_blocks(self):
        b, a = self.before.function.blocks, self.after.blocks
        if len(a) < len(b) or any(block.edge for block in a[:len(b)]):
            self.fault(None, None, "original blocks are missing")
            return False
        for ours, theirs in zip(b, a):
            kept = [i.id for i in theirs.insts if not i.inserted]
            if kept != [i.id for i in ours.insts]:
                self.fault(None, None, f"the original instructions of b{ours.number} are not those from before, in their order")
                return False
        for block in a[len(b):]:
            last = block.insts[-1]
            if not block.edge or not all(i.inserted for i in block.insts) or last.op != "bra" or len(last.targets) != 1:
                self.fault(block.insts[0], None, f"b{block.number} is no edge block")
                return False
        return True

    def check_edges(self):
        """Follows each edge through its edge blocks: chains[block, k] is the list of them."""
        count = len(self.before.function.blocks)
        for ours, theirs in zip(self.before.function.blocks, self.after.blocks):
            wanted, found = ours.insts[-1].targets, theirs.insts[-1].targets
            if len(wanted) != len(found) or ours.insts[-1].op != theirs.insts[-1].op:
                self.fault(theirs.insts[-1], None, "targets changed", True)
                continue
            for k, (goal, at) in enumerate(zip(wanted, found)):
                chain = []
                while at >= count and at not in chain and self.after.blocks[at].edge == (ours.number, goal):
                    chain.append(at)
                    at = self.after.blocks[at].insts[-1].targets[0]
                if at != goal:
                    self.fault(theirs.insts[-1], None, f"target {k} does not lead to b{goal}", True)
                self.chains[ours.number, k] = chain

    def check_inserted(self, inst, block):
        if inst.named or inst.op not in INSERTED or inst.op == "bra" and not block.edge:
            self.fault(inst, None, f"an inserted {inst.op}", True)
            return
        for k, reg in operands_of(inst):
            if not self.check_place(inst, k, reg):
                return
            self.check_limit(inst, k, reg.preg)
            if k < len(inst.defs) and units_of(reg.preg) & self.architectural:
                self.fault(inst, k, f"writes {self.text_of(reg.preg)}, which is architectural")
        self.check_overlap(inst)
        if not self.has_shape(inst):
            self.fault(inst, None, f"operands that {inst.op} does not take", True)
        elif inst.op in ("spill", "refill"):
            self.check_access(inst)
        elif inst.op == "remat":
            self.check_remat(inst)

    def has_shape(self, inst):
        defs, uses = inst.defs, inst.uses
        files = [r.preg[0] for r in defs], [u.preg[0] if isinstance(u, Record) else u[0] for u in uses]
        predicates = all(f in PREDICATES for f in files[1])
        pack = [r for r in (defs if inst.op in ("p2r", "bit_spill") else uses[:1]) if isinstance(r, Record)]
        is_pack = len(pack) == 1 and pack[0].length == 4 and pack[0].preg[0] not in PREDICATES
        bit = uses[-1][1] if uses and isinstance(uses[-1], tuple) and uses[-1][0] == "integer" else -1
        if inst.op == "copy":
            return bool(defs) and [r.length for r in defs] == [getattr(u, "length", None) for u in uses] and \
                [f in PREDICATES for f in files[0]] == [f in PREDICATES for f in files[1]]
        if inst.op == "spill":
            return not defs and len(uses) == 2 and isinstance(uses[0], Record) and files[1][1] == "slot"
        if inst.op == "refill":
            return len(defs) == 1 and files[1] == ["slot"]
        if inst.op == "p2r":
            return is_pack and defs[0].inout and predicates
        if inst.op == "r2p":
            return is_pack and len(uses) == 1 and all(f in PREDICATES for f in files[0])
        if inst.op == "bit_spill":
            return is_pack and defs[0].inout and len(uses) == 2 and files[1][0] in PREDICATES and 0 <= bit < 32
        if inst.op == "bit_refill":
            return is_pack and len(uses) == 2 and len(defs) == 1 and files[0][0] in PREDICATES and 0 <= bit < 32
        return True

    def check_place(self, inst, k, reg):
        """The bytes of an operand after allocation, as its own text says."""
        if reg.preg is None or reg.preg[0] not in self.target.units or sum(reg.preg[1:]) > self.target.units[reg.preg[0]]:
            self.fault(inst, k, "no register of the target", True)
            return False
        place = part_range(reg.part, bytes_of_units(reg.preg[0], reg.preg[2]))
        if place is None:
            self.fault(inst, k, f"no part .{reg.part} of {self.text_of(reg.preg)}", True)
            return False
        reg.offset, reg.length = place
        return True

    def check_limit(self, inst, k, preg):
        file, first, count = preg
        if units_of(preg) <= self.architectural:
            return
        if first + count > self.limits[file]:
            self.fault(inst, k, f"{self.text_of(preg)} is above the limit of {file}, {self.limits[file]}")
        if units_of(preg) & self.target.reserved:
            self.fault(inst, k, f"{self.text_of(preg)} is reserved")

    def check_overlap(self, inst):
        taken = {}
        for k, reg in enumerate(inst.defs):
            first = reg.preg[1] * bytes_of_units(reg.preg[0], 1) + reg.offset
            for byte in range(first, first + reg.length):
                if taken.setdefault((reg.preg[0], byte), k) != k:
                    self.fault(inst, k, f"overlaps the def of operand {taken[reg.preg[0], byte]}")
                    return

    def check_access(self, inst):
        reg = inst.defs[0] if inst.defs else inst.uses[0]
        _, number, offset = inst.uses[-1]
        if number >= len(self.after.slots):
            self.fault(inst, None, f"no slot {number}", True)
            return
        slot = self.after.slots[number]
        if offset + reg.length > slot.size:
            self.fault(inst, None, f"reaches beyond slot {number}", True)
        if (slot.offset + offset) % min(16, reg.length & -reg.length):
            self.fault(inst, None, f"{reg.length} bytes at an address that is not aligned for them")
        _, _, units = reg.preg
        if units not in UNITS_OF_VREGS:
            self.fault(inst, 0, f"{self.text_of(reg.preg)} is no register of a spill or refill")

    def check_remat(self, inst):
        original = self.before.insts.get(inst.ref)
        if original is None or "remat" not in original.flags or len(original.defs) != 1 or \
                "read" in original.flags and "readonly" not in original.flags:
            self.fault(inst, None, f"#{inst.ref} cannot be rematerialised", True)
            return
        if len(inst.defs) != 1 or not self.same_operands(original, inst):
            self.fault(inst, None, f"not the operands of #{inst.ref}", True)
            return
        for (k, ours), (_, theirs) in zip(operands_of(original, False), operands_of(inst, False)):
            if ours.home and ours.home != theirs.preg:
                self.fault(inst, k, f"#{inst.ref} is fixed to {self.text_of(ours.home)} here")
            if theirs.length == ours.length:
                theirs.narrow = False
            elif theirs.part is None and ours.whole:
                self.take_bytes(inst, k, ours, theirs)
            else:
                self.fault(inst, k, f"{theirs.length} bytes instead of {ours.length}", True)
        self.check_tied(original, inst)

    def same_operands(self, ours, theirs):
        """The same immediates, and register operands in the same positions with the same roles."""
        if len(ours.uses) != len(theirs.uses) or len(ours.defs) != len(theirs.defs):
            return False
        if any(b.inout != a.inout for b, a in zip(ours.defs, theirs.defs)):
            return False
        for b, a in zip(ours.uses, theirs.uses):
            if isinstance(b, tuple) or isinstance(a, tuple):
                if b != a:
                    return False
            elif b.negated != a.negated:
                return False
        return True

    def take_bytes(self, inst, k, ours, theirs):
        """Gives an operand of an original instruction the bytes that the program before reads or writes."""
        theirs.offset, theirs.length, theirs.narrow = ours.offset, ours.length, ours.narrow
        if theirs.preg[2] < ours.root.units or (theirs.preg[0] in PREDICATES) != (ours.root.file in PREDICATES):
            self.fault(inst, k, f"{self.text_of(theirs.preg)} holds no {ours.root.type}", True)

    def check_original(self, ours, theirs):
        if "deleted" in theirs.flags:
            self.check_deleted(ours, theirs)
            return
        was_copy = not ours.named and ours.op == "copy" and len(ours.defs) == 1
        became_access = was_copy and not theirs.named and theirs.op in ("spill", "refill")
        same = (ours.op, ours.named, ours.mnemonic) == (theirs.op, theirs.named, theirs.mnemonic)
        if not (same or became_access) or ours.flags != theirs.flags or ours.clobbers != theirs.clobbers or \
                bool(ours.guard) != bool(theirs.guard) or ours.guard and ours.guard.negated != theirs.guard.negated:
            self.fault(theirs, None, "operation, flags, guard or clobbers changed", True)
            return
        if became_access:
            self.check_access_of_copy(ours, theirs)
            return
        if not self.same_operands(ours, theirs):
            self.fault(theirs, None, "operands changed", True)
            return
        for (k, b), (_, a) in zip(operands_of(ours), operands_of(theirs)):
            self.check_operand(theirs, k, b, a)
        if not self.broken:
            self.check_overlap(theirs)
            self.check_tied(ours, theirs)
            if ours.op == "phi" and not ours.named:
                self.check_phi(ours, theirs)

    def check_deleted(self, ours, theirs):
        if (ours.op, ours.named, ours.mnemonic, ours.flags | {"deleted"}) != (theirs.op, theirs.named, theirs.mnemonic, theirs.flags):
            self.fault(theirs, None, "operation or flags changed")
        if theirs.defs or theirs.uses or theirs.guard or theirs.clobbers:
            self.fault(theirs, None, "operands of a deleted instruction")
        if (ours.named or ours.op not in ("copy", "phi")) and ("remat" not in ours.flags or len(ours.defs) != 1):
            self.fault(theirs, None, f"a deleted {ours.op}")

    def check_access_of_copy(self, ours, theirs):
        if not all(self.check_place(theirs, k, reg) for k, reg in operands_of(theirs)):
            return
        if not self.has_shape(theirs):
            self.fault(theirs, None, f"operands that {theirs.op} does not take", True)
            return
        b, a = (ours.uses[0], theirs.uses[0]) if theirs.op == "spill" else (ours.defs[0], theirs.defs[0])
        self.check_home(theirs, 0, b, a)
        self.check_part(theirs, 0, b, a)
        if ours.guard:
            self.check_operand(theirs, 2, ours.guard, theirs.guard)
        self.check_access(theirs)

    def check_part(self, inst, k, ours, theirs):
        same_bytes = (theirs.offset, theirs.length) == (ours.offset, ours.length)
        if (theirs.part is not None) if ours.whole else not same_bytes:
            self.fault(inst, k, "another part")

    def check_home(self, inst, k, ours, theirs):
        root, (file, first, count) = ours.root, theirs.preg
        if file != root.file or count != root.units:
            self.fault(inst, k, f"{self.text_of(theirs.preg)} is no home of a vreg of {root.units} units in {root.file}")
        elif first % root.align and not ours.home:
            self.fault(inst, k, f"{self.text_of(theirs.preg)} is not aligned to {root.align}")
        if ours.home and ours.home != theirs.preg:
            self.fault(inst, k, f"{self.text_of(theirs.preg)} instead of {self.text_of(ours.home)}, to which it is fixed")
        elif units_of(theirs.preg) & self.architectural and not root.architectural:
            self.fault(inst, k, f"{self.text_of(theirs.preg)} is architectural")
        self.check_limit(inst, k, theirs.preg)

    def check_operand(self, inst, k, ours, theirs):
        if not self.check_place(inst, k, theirs):
            return
        self.check_home(inst, k, ours, theirs)
        self.check_part(inst, k, ours, theirs)
        self.take_bytes(inst, k, ours, theirs)

    def check_tied(self, ours, theirs):
        for k, reg in enumerate(ours.defs):
            if reg.tied is None:
                continue
            use = (theirs.defs + theirs.uses)[reg.tied]
            if use.preg != theirs.defs[k].preg:
                self.fault(theirs, k, f"not in {self.text_of(use.preg)}, the register of operand {reg.tied}, to which it is tied")

    def check_phi(self, ours, theirs):
        for k, (b, a) in enumerate(zip(ours.uses, theirs.uses), 1):
            chains = [c for (block, j), c in self.chains.items() if block == b.source]
            if a.source != b.source and not any(c and c[-1] == a.source for c in chains):
                self.fault(theirs, k, f"b{a.source} instead of b{b.source}")
            if a.preg != theirs.defs[0].preg:
                self.fault(theirs, k, "a kept phi whose operands are not in one home")


def declaration_of(vreg):
    return (vreg.register_class, vreg.type, vreg.align or default_align_of_type(vreg.type), vreg.alias, vreg.fixed, vreg.hint,
            vreg.uniform, vreg.architectural, vreg.name)


def default_align_of_type(kind):
    return 1 if kind == "pred" else default_align((int(kind[1:]) + 31) // 32)


def operands_of(inst, guard=True):
    """The register operands with their numbers."""
    every = [*inst.defs, *inst.uses, *([inst.guard] if inst.guard and guard else [])]
    return [(k, o) for k, o in enumerate(every) if isinstance(o, Record)]


class Faults:
    def __init__(self, function):
        self.function, self.list, self.seen = function, [], collections.Counter()

    def add(self, kind, inst, operand, message):
        key = (inst.label if inst else "", operand, message)
        if not self.seen[key] and self.seen[kind] < MOST_FAULTS:
            self.seen.update((key, kind))
            self.list.append(Record(function=self.function, kind=kind, instruction=key[0], operand=operand, message=message))


def line_of(fault):
    where = fault.instruction + ("" if fault.operand is None else f" operand {fault.operand}")
    return f"{fault.function}: {where + ': ' if where else ''}{fault.message}"


# --- Steps: instructions with their operands as ranges of two arrays of bytes --------------------------------------------------

def key_of(inst):
    """What an operation computes with, besides the values of its registers."""
    uses = [("register", u.negated) if isinstance(u, Record) else u for u in inst.uses]
    text = repr((inst.op, inst.named, inst.mnemonic, len(inst.defs), uses))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "big")


class Compiler:
    """Lays out the registers and frames of the allocated program in one array, and turns instructions into steps."""

    def __init__(self, contract):
        self.contract, self.before, self.after = contract, contract.before, contract.after
        highest = {f: -1 for f in contract.target.units}
        for block in self.after.blocks:
            for inst in block.insts:
                for _, reg in operands_of(inst):
                    highest[reg.preg[0]] = max(highest[reg.preg[0]], reg.preg[1] + reg.preg[2] - 1)
        for file, unit in contract.callee_saved + sorted(contract.architectural):
            highest[file] = max(highest.get(file, -1), unit)
        self.base, self.highest, self.size = {}, highest, 0
        for file, unit in highest.items():
            self.base[file] = self.size
            self.size += bytes_of_units(file, unit + 1)
        for space, size in self.after.frames.items():
            self.base[space] = self.size
            self.size += size
        self.inputs = [(v.base, v.bytes, self.unit_place(*v.fixed[:2])) for v in self.before.function.vregs
                       if v.architectural and v.fixed and v.alias is None]
        self.saved = self.saved_places()
        self.blocks = [self.block_of(b, a) for b, a in zip(self.before.function.blocks, self.after.blocks)]
        self.edges = {edge: [self.alone(i) for e in chain for i in self.after.blocks[e].insts if i.op != "bra"]
                      for edge, chain in contract.chains.items()}

    def unit_place(self, file, unit):
        return self.base[file] + bytes_of_units(file, unit)

    def saved_places(self):
        """The bytes that a device function returns unchanged."""
        if self.before.function.kind != "device":
            return []
        given_up = set(self.contract.architectural)
        for inst in self.before.insts.values():
            given_up.update(*(units_of(c) for c in inst.clobbers))
        return [(f"{file}{unit}", self.unit_place(file, unit), self.unit_place(file, unit + 1))
                for file, unit in self.contract.callee_saved if (file, unit) not in given_up]

    def place(self, reg):
        start = self.unit_place(reg.preg[0], reg.preg[1]) + reg.offset
        return start, start + reg.length

    def clobbers_of(self, inst):
        places = []
        for file, first, count in inst.clobbers:
            last = min(first + count - 1, self.highest.get(file, -1))
            if first <= last:
                places.append((self.unit_place(file, first), self.unit_place(file, last + 1)))
        return places

    def lost_of(self, inst):
        """Storages of architectural vregs that stand in clobbered registers."""
        if not self.contract.architectural:
            return []
        units = set().union(*(units_of(c) for c in inst.clobbers))
        return [(v.base, v.base + v.bytes) for v in self.before.function.vregs
                if v.architectural and v.fixed and v.alias is None and units & units_of(v.fixed)]

    def step_of(self, ours, theirs):
        """An instruction of the program before, with the places of its operands on both sides (`theirs` may be None)."""
        step = Record(inst=theirs or ours, key=key_of(ours), move=not ours.named and ours.op in MOVES, guard=None, first=[], early=[],
                      then=[], writes=[], clobbers=[], lost=self.lost_of(ours))
        step.needs_memory = "read" in ours.flags and "readonly" not in ours.flags or not ours.named and ours.op == "call"
        step.changes_memory = "write" in ours.flags or "barrier" in ours.flags or not ours.named and ours.op in ("bar", "call")
        after = {k: self.place(a) for k, a in operands_of(theirs)} if theirs else {}
        early_uses = {d.tied for d in ours.defs if d.early}
        for k, b in operands_of(ours):
            both = (k, (b.start, b.start + b.length), after.get(k))
            if b is ours.guard:
                step.guard = (k, b.start, after.get(k, (None,))[0], b.negated)
                continue
            if k >= len(ours.defs) or b.inout:
                (step.first if b.inout and b.early or k in early_uses else step.then).append(both)
            if k < len(ours.defs):
                if b.early:
                    step.early.append(both)
                end = both[2][1] if theirs else None
                tail = theirs and (end, both[2][0] + 4 if b.narrow and theirs.defs[k].narrow else end)
                step.writes.append((*both, tail))
        if theirs:
            step.clobbers = self.clobbers_of(theirs)
        return step

    def alone(self, inst, ours=None):
        """An instruction that only the allocated program has, or one with no effect but its own bytes (an original copy)."""
        if ours and inst.op == "copy":
            step = self.step_of(ours, inst)
            step.kind = "move"
            return step
        step = Record(kind="move", inst=inst, guard=None, first=[], early=[], then=[], writes=[], clobbers=self.clobbers_of(inst))
        places = {k: self.place(reg) for k, reg in operands_of(inst)}
        if inst.guard:
            step.guard = (None, None, self.place(inst.guard)[0], inst.guard.negated)
        if inst.op == "remat":
            original = self.before.insts[inst.ref]
            bare = Record(**{**inst.__dict__, "guard": None})
            made = self.step_of(Record(**{**original.__dict__, "guard": None, "clobbers": []}), bare)
            made.kind, made.guard, made.clobbers = "remat", step.guard, step.clobbers
            return made
        if inst.op in ("p2r", "bit_spill", "r2p", "bit_refill"):
            return self.pack_step(step, inst, places)
        for k, _ in enumerate(inst.defs):
            step.writes.append((k, None, places[k], (places[k][1],) * 2))
        for k, use in enumerate(inst.uses, len(inst.defs)):
            if isinstance(use, Record):
                step.then.append((k, None, places[k]))
            else:
                self.add_slot(step, inst, use)
        return step

    def add_slot(self, step, inst, use):
        slot = self.after.slots[use[1]]
        length = (inst.defs[0] if inst.op == "refill" else inst.uses[0]).length
        start = self.base[slot.space] + slot.offset + use[2]
        if inst.op == "refill":
            step.then.append((1, None, (start, start + length)))
        else:
            step.writes.append((1, None, (start, start + length), (start + length,) * 2))

    def pack_step(self, step, inst, places):
        into = inst.op in ("p2r", "bit_spill")
        step.kind = "into" if into else "out"
        predicates = inst.uses if into else inst.defs
        step.pack = places[0][0] if into else places[len(inst.defs)][0]
        if inst.op in ("bit_spill", "bit_refill"):
            step.bits = [(inst.uses[1][1], self.place(predicates[0])[0])]
        else:
            step.bits = [(p.preg[1], self.place(p)[0]) for p in predicates]
        return step

    def block_of(self, ours, theirs):
        """(phis before, kept phis after, steps): a step is (with its partner before, after alone)."""
        mine = {i.id: i for i in ours.insts}
        block = Record(phis=[], kept=[], steps=[], targets=ours.insts[-1].targets, ret=ours.insts[-1].op == "ret")
        for inst in theirs.insts:
            partner = mine.get(inst.id) if not inst.inserted else None
            deleted = "deleted" in inst.flags
            if partner is None:
                block.steps.append((None, None, self.alone(inst)))
            elif not partner.named and partner.op == "phi":
                self.add_phi(block, partner, None if deleted else inst)
            elif not partner.named and partner.op == "copy":
                block.steps.append((self.step_of(partner, None), None, None if deleted else self.alone(inst, partner)))
            elif deleted:
                block.steps.append((self.step_of(partner, None), None, None))
            else:
                step = self.step_of(partner, inst)
                block.steps.append((step, step, None))
        return block

    def add_phi(self, block, ours, theirs):
        to = ours.defs[0]
        block.phis.append(((to.start, to.start + to.length), {u.source: (u.start, u.start + u.length) for u in ours.uses}))
        if theirs:
            block.kept.append((self.place(theirs.defs[0]),
                               {b.source: self.place(a) for b, a in zip(ours.uses, theirs.uses)}))


# --- Running -------------------------------------------------------------------------------------------------------------------

def holds(cell, negated):
    return (hash((cell, 77)) >> 9 & 1) != negated


def bits_of(cell):
    """A byte as eight predicates."""
    return cell if isinstance(cell, tuple) else tuple(hash((cell, 3, k)) for k in range(8))


class Paths:
    """Chooses the ways of the runs: towards edges that no run has taken yet."""

    def __init__(self, blocks):
        self.blocks = blocks
        reached, work = {0}, [0]
        while work:
            for t in blocks[work.pop()].targets:
                if t not in reached:
                    reached.add(t)
                    work.append(t)
        self.missing = {(b, k) for b in reached for k in range(len(blocks[b].targets))}
        self.edges = len(self.missing)
        self.sources = {}
        for b in reached:
            for t in blocks[b].targets:
                self.sources.setdefault(t, []).append(b)
        self.distance = self.distances()

    def distances(self):
        """Of each block, the steps to the nearest edge that is missing."""
        found = {b: 0 for b, _ in self.missing}
        work = list(found)
        for b in work:
            for s in self.sources.get(b, ()):
                if s not in found:
                    found[s] = found[b] + 1
                    work.append(s)
        return found

    def choose(self, block, chance):
        targets = self.blocks[block].targets
        choice = range(len(targets))
        if self.missing and len(targets) > 1 and chance.random() < 0.7:
            fresh = [k for k in choice if (block, k) in self.missing]
            nearest = min(self.distance.get(t, len(self.blocks)) for t in targets)
            choice = fresh or [k for k in choice if self.distance.get(targets[k], len(self.blocks)) == nearest]
        taken = chance.choice(choice)
        if (block, taken) in self.missing:
            self.missing.remove((block, taken))
            self.distance = self.distances()
        return taken


class Run:
    """One run of both programs."""

    def __init__(self, code, paths, faults, seed):
        self.code, self.paths, self.faults = code, paths, faults
        self.chance = random.Random(seed)
        self.salt = self.chance.getrandbits(60)
        self.memory = self.chance.getrandbits(60)
        self.b = [None] * code.before.size
        self.a = self.junk(code.size)
        for start, length, place in code.inputs:
            self.b[start:start + length] = self.a[place:place + length]
        self.entry = list(self.a)
        self.whole = {}  # the bytes that were taken apart, by their bits

    def junk(self, count):
        bits = self.chance.getrandbits
        return [bits(60) for _ in range(count)]

    def spoil(self, place):
        self.a[place[0]:place[1]] = self.junk(place[1] - place[0])

    def go(self, steps):
        at = 0
        while steps > 0:
            block = self.code.blocks[at]
            for before, observed, alone in block.steps:
                if before:
                    outcome = self.do_before(before)
                    if observed:
                        self.do_observed(observed, *outcome)
                if alone:
                    self.do_alone(alone)
            steps -= len(block.steps) + 1
            if not block.targets:
                if block.ret:
                    self.check_saved(at)
                return
            taken = self.paths.choose(at, self.chance)
            for step in self.code.edges[at, taken]:
                self.do_alone(step)
            self.do_phis(block.targets[taken], at)
            at = block.targets[taken]

    def check_saved(self, at):
        inst = self.code.after.blocks[at].insts[-1]
        for name, start, end in self.code.saved:
            if self.a[start:end] != self.entry[start:end]:
                self.faults.add("execution", inst, None, f"{name} is callee-saved and does not hold what it held at entry")

    def do_phis(self, at, source):
        block = self.code.blocks[at]
        for memory, phis in ((self.b, block.phis), (self.a, block.kept)):
            values = [memory[slice(*uses[source])] for _, uses in phis]
            for (to, _), value in zip(phis, values):
                memory[slice(*to)] = value

    def results(self, step, values, b_side):
        """What an operation writes, for each def: opaque bytes, or undefined ones."""
        sizes = [b[1] - b[0] for _, b, _, _ in step.writes]
        flat = [cell for value in values for cell in value]
        if step.move:
            return split(flat, sizes)
        if b_side and None in flat:
            return [[None] * n for n in sizes]
        memory = self.memory if step.needs_memory else 0
        base = hash((self.salt, step.key, memory, *flat))
        return [[hash((base, k, n)) for n in range(size)] for k, size in enumerate(sizes)]

    def do_before(self, step):
        """Runs an instruction of the program before: (whether it happens, its guard, what it read, what it wrote)."""
        b, state, cell = self.b, DONE, None
        if step.guard:
            cell = b[step.guard[1]]
            state = UNKNOWN if cell is None else DONE if holds(cell, step.guard[3]) else SKIPPED
        if state == SKIPPED:
            return state, cell, None, None
        values = [(k, b[place[0]:place[1]]) for k, place, _ in step.first]
        for _, place, _ in step.early:
            b[place[0]:place[1]] = [None] * (place[1] - place[0])
        values += [(k, b[place[0]:place[1]]) for k, place, _ in step.then]
        for start, end in step.lost:
            b[start:end] = [None] * (end - start)
        reads = [value for _, value in sorted(values)] if step.first else [value for _, value in values]
        results = self.results(step, reads, True)
        for (_, place, _, _), cells in zip(step.writes, results):
            if state == UNKNOWN:
                old = b[place[0]:place[1]]
                cells = [new if step.move and new == was else None for new, was in zip(cells, old)]
            b[place[0]:place[1]] = cells
        if step.changes_memory:
            self.memory = hash((self.memory, step.key, *(cell or 0 for value in reads for cell in value)))
        return state, cell, dict(values), results

    def do_observed(self, step, state, guard, values, results):
        """Runs the same instruction of the allocated program, and compares what it reads."""
        a, known = self.a, state == DONE
        if step.guard:
            k, _, a_at, negated = step.guard
            if state == UNKNOWN:
                if not holds(a[a_at], negated):
                    return
            elif a[a_at] != guard:
                self.differs(step, k, 1)
            if state == SKIPPED:
                return
        moved = self.read_after(step, values if known else None)
        for place in step.clobbers:
            self.spoil(place)
        own = split([c for _, cells in moved for c in cells], [p[1] - p[0] for _, p, _, _ in step.writes]) if step.move else None
        for n, (_, _, place, tail) in enumerate(step.writes):
            spare = own[n] if own else self.junk(place[1] - place[0])
            wanted = results[n] if known else spare
            a[place[0]:place[1]] = [x if w is None else w for w, x in zip(wanted, spare)]
            self.spoil(tail)

    def read_after(self, step, values):
        """Reads the uses of a step, in their order; compares them where `values` says what the program before read."""
        a, got = self.a, []
        for part in (step.first, step.then):
            for k, _, place in part:
                cells = a[place[0]:place[1]]
                got.append((k, cells))
                if values is not None and cells != values[k]:
                    wrong = sum(w is not None and c != w for c, w in zip(cells, values[k]))
                    if wrong:
                        self.differs(step, k, wrong)
                        got[-1] = (k, [c if w is None else w for c, w in zip(cells, values[k])])
            if part is step.first:
                for _, _, place in step.early:
                    self.spoil(place)
        return sorted(got) if step.first else got

    def differs(self, step, operand, wrong):
        what = "the byte" if wrong == 1 else f"{wrong} bytes"
        self.faults.add("execution", step.inst, operand, f"does not read {what} that the program before reads")

    def do_alone(self, step):
        """Runs an instruction that has no partner before, or is not observed."""
        a = self.a
        if step.guard and not holds(a[step.guard[2]], step.guard[3]):
            return
        if step.kind == "into":
            self.pack_bits(step)
        elif step.kind == "out":
            pack = a[step.pack:step.pack + 4]
            for bit, place in step.bits:
                a[place] = bits_of(pack[bit // 8])[bit % 8]
        else:
            values = [cells for _, cells in self.read_after(step, None)]
            for place in step.clobbers:
                self.spoil(place)
            sizes = [p[1] - p[0] for _, _, p, _ in step.writes]
            cells = self.results(step, values, False) if step.kind == "remat" else split(sum(values, []), sizes)
            for (_, _, place, tail), value in zip(step.writes, cells):
                a[place[0]:place[1]] = value
                self.spoil(tail)

    def pack_bits(self, step):
        predicates = [(bit, self.a[place]) for bit, place in step.bits]
        for bit, value in predicates:
            at = step.pack + bit // 8
            old = bits_of(self.a[at])
            self.whole.setdefault(old, self.a[at])
            new = old[:bit % 8] + (value,) + old[bit % 8 + 1:]
            self.a[at] = self.whole.get(new, new)


def split(cells, sizes):
    parts, at = [], 0
    for size in sizes:
        parts.append(cells[at:at + size])
        at += size
    return parts


# --- The whole -----------------------------------------------------------------------------------------------------------------

def compare_function(before, after, options):
    if not options.target and before.target not in SHIPPED:
        raise BadInput(f"{before.where}: no target {before.target}")
    target = options.target or Target(before.target)
    if before.predicate_halves != target.predicate_halves:
        raise BadInput(f"{before.where}: predicate_halves stands in the function and not in the target, or the other way round")
    for vreg in before.vregs:
        if FILE_OF[vreg.register_class] not in target.units:
            raise BadInput(f"{vreg.where}: {before.target} has no register file {FILE_OF[vreg.register_class]}")
    if before.allocated or not after.allocated:
        raise BadInput(f"{after.where}: the first program is one over vregs, the second an allocated one")
    prepared = Before(before)
    lowered = Lowered(before, after, target, options.limits)
    contract = Contract(prepared, after, target, options.limits, lowered.faults)
    result = Record(function=before.name, faults=contract.faults.list, runs=0, edges=None, missing=None)
    if contract.broken:
        return result
    code = Compiler(contract)
    paths = Paths(code.blocks)
    for k in range(options.runs):
        Run(code, paths, contract.faults, f"{options.seed} {before.name} {k}").go(options.steps)
    result.runs, result.edges, result.missing = options.runs, paths.edges, len(paths.missing)
    return result


def compare(before_text, after_text, options, names=("before", "after")):
    """Compares two files: a result a function. Raises BadInput."""
    before, after = read_program(before_text, names[0]), read_program(after_text, names[1])
    for name, function in before.items():
        if name not in after:
            raise BadInput(f"{function.where}: @{name} is missing in {names[1]}")
    for name, function in after.items():
        if name not in before:
            raise BadInput(f"{function.where}: @{name} is missing in {names[0]}")
    return [compare_function(function, after[name], options) for name, function in before.items()]


def options_of(runs=40, steps=20000, seed=1, limits=None, target=None):
    return Record(runs=runs, steps=steps, seed=seed, limits=limits or {}, target=target)


def limits_of(regs, texts):
    limits = {} if regs is None else {"R": regs}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in UNITS or not number.isdigit():
            raise BadInput(f"--limit {text}: expected CLASS=N")
        limits[name] = int(number)
    return limits


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="the program over vregs")
    parser.add_argument("after", help="the allocated program")
    parser.add_argument("--runs", type=int, default=40, help="runs of each function (default 40)")
    parser.add_argument("--steps", type=int, default=20000, help="most instructions of a run (default 20000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other inputs and paths")
    parser.add_argument("--regs", type=int, help="limit of the general register file that must have been kept")
    parser.add_argument("--limit", action="append", default=[], metavar="CLASS=N", help="limit of another register file; repeatable")
    parser.add_argument("--target", metavar="FILE.json", help="a target that is not shipped (ir/FORMAT.md, \"Targets\")")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    return parser.parse_args()


def document_of(results):
    return {"format": 1, "results": [{"function": r.function, "runs": r.runs, "edges": r.edges, "edges_not_taken": r.missing,
                                      "faults": [vars(f) for f in r.faults]} for r in results]}


def main():
    arguments = parse_arguments()
    try:
        target = Target(None, json.loads(pathlib.Path(arguments.target).read_text("utf-8"))) if arguments.target else None
        options = options_of(arguments.runs, arguments.steps, arguments.seed, limits_of(arguments.regs, arguments.limit), target)
        texts = [pathlib.Path(name).read_text("utf-8") for name in (arguments.before, arguments.after)]
        results = compare(*texts, options, (arguments.before, arguments.after))
    except (BadInput, OSError, ValueError) as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(document_of(results), indent=2))
    else:
        for result in results:
            for fault in result.faults:
                print(line_of(fault))
    return int(any(result.faults for result in results))


if __name__ == "__main__":
    sys.exit(main())
