"""Targets, and where the bytes of each operand lie: in units of register files, and in the storages of the program before."""

import functools

from rir import FILE_OF, INSERTED, MOVES, PREDICATES, BadInput, Line, Record, read_preg

# FORMAT.md leaves the tables of the shipped targets to the targets. These were found by asking `regduel verify` about programs of
# one def, for every register of every file: the registers that it accepts, and those that it wants back at the `ret` of a device
# function. Below these sizes the stack pointer of `abi cuda` alone is reserved.
UNITS = {"R": 255, "P": 7, "B": 16, "UR": 63, "UP": 7, "UB": 16, "ACC": 512}
FILES_MISSING = {"sm_70": ("UR", "UP", "UB", "ACC")}
WITH_ACC = ("sm_100", "sm_103", "sm_110")
SHIPPED = {f"sm_{n}" for n in (70, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121)}
CALLEE_SAVED = {
    "seed": [("R", n) for n in range(24, 32)],
    "cuda": [("R", 2)] + [("R", n) for n in range(16, 255) if n < 32 or n % 8 >= 4] + [("UR", n) for n in range(36, 63)],
}
RESERVED = {"seed": set(), "cuda": {("R", 1)}}
MEMORY_THROUGH_R = {"seed": False, "cuda": True}

UNITS_OF_VREGS = (1, 2, 3, 4, 8)
PART_BYTES = {"b": 1, "h": 2, "w": 4, "d": 8, "q": 16}


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
            reserved = units_in(description.get("reserved", []))
            by_name = {abi: description.get("abi", {}) | description.get("abis", {}).get(abi, {}) for abi in CALLEE_SAVED}
            self.memory_through_r = {abi: d.get("memory_through_r", False) for abi, d in by_name.items()}
            self.callee_saved = {abi: sorted(units_in(d.get("callee_saved", []))) for abi, d in by_name.items()}
            self.reserved = {abi: reserved | units_in(d.get("reserved", [])) for abi, d in by_name.items()}
            return
        missing = FILES_MISSING.get(name, () if name in WITH_ACC else ("ACC",))
        self.units = {f: n for f, n in UNITS.items() if f not in missing}
        self.predicate_halves = False
        self.reserved = RESERVED
        self.memory_through_r = MEMORY_THROUGH_R
        self.callee_saved = {abi: [u for u in kept if u[0] in self.units] for abi, kept in CALLEE_SAVED.items()}

    def places(self, abi, limit, units=1, align=1):
        """Where so many units of R may begin, below the limit and clear of what is reserved."""
        reserved = self.reserved[abi]
        return [at for at in range(0, limit - units + 1, align) if reserved.isdisjoint(units_of(("R", at, units)))]


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


def operands_of(inst, guard=True):
    """The register operands with their numbers."""
    every = [*inst.defs, *inst.uses, *([inst.guard] if inst.guard and guard else [])]
    return [(k, o) for k, o in enumerate(every) if isinstance(o, Record)]
