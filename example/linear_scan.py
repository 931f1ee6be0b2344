#!/usr/bin/env python3
"""A linear-scan allocator in plain Python, for regduel (docs/own-allocator.md has the protocol):

    regduel duel --random 500 --with exec:'python3 example/linear_scan.py',briggs

A vreg lives in one register from its first to its last mention, in the order of the instructions, stretched over the loops that it
overlaps; or in a slot, and in a register only while one instruction reads or writes it. Where registers run out, the vreg whose
interval ends last goes to its slot. Operands that are fixed or tied to a register are copied there and back. A phi becomes a store
at the end of each predecessor and a refill at its place. Source: Poletto, Sarkar, "Linear Scan Register Allocation" (1999).

--bug no-loops, late-store or early-clobber plants a bug; the knob spill-all=1 keeps every vreg in a slot.
"""

import functools
import re
import sys

PIECES = re.compile(r'("(?:\\.|[^"\\])*"|%\d+(?:\.\w+)?(?:\{[^}]*\})?)')
OPERAND = re.compile(r"%(\d+)(?:\.(\w+))?(?:\{([^}]*)\})?")
STRETCH = re.compile(r"([A-Z]+)(\d+)(?::[A-Z]+(\d+))?")
CLASSES = {"Ralt": "R", "URext": "UR"}
PART_BYTES = {"b": 1, "h": 2, "w": 4, "d": 8, "q": 16}
BUG = None


class Unsupported(Exception):
    pass


class Impossible(Exception):
    pass


def stretch(text):
    """The register tuple that "R4:R7" names: file, first unit, number of units."""
    file, first, last = STRETCH.fullmatch(text).groups()
    return file, int(first), int(last or first) - int(first) + 1


def name(reg):
    file, first, count = reg
    return f"{file}{first}" if count == 1 else f"{file}{first}:{file}{first + count - 1}"


@functools.cache
def units(reg):
    return frozenset((reg[0], u) for u in range(reg[1], reg[1] + reg[2]))


def part_bytes(part, whole):
    """Offset and size in bytes of a part of something of `whole` bytes."""
    if not part:
        return 0, whole
    if part in ("lo", "hi"):
        return (whole // 2 if part == "hi" else 0), whole // 2
    size = PART_BYTES[part[0]]
    return int(part[1:]) * size, size


class VReg:
    def __init__(self, cls, kind, rest):
        self.file = CLASSES.get(cls, cls)
        self.bytes = 1 if kind == "pred" else int(kind[1:]) // 8
        self.units = max(1, self.bytes // 4)
        self.align = 1 << (self.units - 1).bit_length()
        self.alias = self.fixed = self.home = self.slot = None
        self.architectural = "architectural" in rest
        for word, value in zip(rest, rest[1:]):
            if word == "align":
                self.align = int(value)
            elif word == "alias":
                self.alias = OPERAND.fullmatch(value).groups()
            elif word == "fixed":
                self.fixed = stretch(value)


class Operand:
    """One register operand: of which root, which bytes of it, how it is used. `reg` is where it is placed."""

    def __init__(self, root, part, role, attributes):
        self.root, self.part, self.role = root, part, role
        self.early = "early" in attributes
        self.inout = "inout" in attributes
        self.fixed = self.tied = self.reg = None
        for a in attributes:
            if a.startswith("="):
                self.fixed = stretch(a[1:])
            elif a.startswith("tied"):
                self.tied = int(a.split()[1])

    def __str__(self):
        return name(self.reg) + self.part + ("{inout}" if self.inout else "")


class Inst:
    def __init__(self, function, line):
        self.pieces = PIECES.split(line)
        self.regs, self.by_number = [], {}  # operands in the order of the line, and by operand number
        clobbers = re.search(r" clobbers ([A-Z0-9:, ]+?)(?= ->| !|$)", line)
        self.clobbers = [stretch(c) for c in clobbers[1].split(", ")] if clobbers else []
        head = re.match(r"#(\d+) (@)?", line.strip())
        self.id, self.guarded = int(head[1]), head[2] is not None
        rest = PIECES.sub("", line)
        self.is_phi = re.search(r"= phi\b", rest) is not None
        self.targets = [int(t) for t in re.findall(r"b(\d+)", rest.split(" -> ")[1])] if " -> " in rest else []
        self.sources = [int(b) for b in re.findall(r"\bb(\d+):", rest)] if self.is_phi else []
        has_defs = any(" = " in p for p in self.pieces[::2])
        number, side = 0, "def" if has_defs else "use"
        for k, piece in enumerate(self.pieces):
            if k % 2 == 0:
                number += piece.split(" clobbers ")[0].count(",")
                if side == "def" and " = " in piece:
                    number, side = number + 1, "use"
            elif piece.startswith("%"):
                is_guard = k == 1 and self.guarded
                op = function.operand(piece, "guard" if is_guard else side)
                self.pieces[k] = op
                self.regs.append(op)
                if not is_guard:
                    self.by_number[number] = op
        for op in self.regs:  # what is read, what is written, and what is written while the uses are still to be read
            op.reads = op.role != "def" or op.inout or self.guarded or (op.part != "" and not op.tied)
            op.writes = op.role == "def"
            op.both = op.writes and (op.reads or op.early or op.tied is not None)
        self.flags = "".join(re.findall(r" ![a-z]+(?= |$)", rest))
        if self.is_phi and any(op.part for op in self.regs):
            raise Unsupported("a part of a register in a phi")
        self.moved = []


class Function:
    def __init__(self, lines):
        self.header = lines[0]
        self.is_device = " device " in self.header
        self.vregs, self.vreg_lines, self.block_lines, self.blocks = [], [], [], []
        self.variables = 0  # bytes of its own at the beginning of the frame
        for line in lines[1:]:
            words = line.split('" ')[0].split()
            if words[0] == "vreg":
                self.vregs.append(VReg(words[2], words[3], words[4:]))
                self.vreg_lines.append(line)
            elif words[0] == "frame":
                self.variables = int(words[2])
            elif words[0] == "block":
                self.block_lines.append(line)
                self.blocks.append([])
            else:
                self.blocks[-1].append(Inst(self, line))
        self.insts = [i for b in self.blocks for i in b]
        self.next_id = max(i.id for i in self.insts) + 1
        self.first = {}
        at = 0
        for n, block in enumerate(self.blocks):
            self.first[n] = at
            at += len(block)
        self.last = [self.first[n] + len(b) - 1 for n, b in enumerate(self.blocks)]

    def architectural_units(self):
        return set().union(*(units(v.fixed) for v in self.vregs if v.architectural))

    def operand(self, text, role):
        number, part, attributes = OPERAND.fullmatch(text).groups()
        vreg = self.vregs[int(number)]
        offset, size = part_bytes(part, vreg.bytes)
        while vreg.alias:
            vreg_number, alias_part, _ = vreg.alias
            vreg = self.vregs[int(vreg_number)]
            offset += part_bytes(alias_part, vreg.bytes)[0]
        letters = [c for c, n in PART_BYTES.items() if n == size]
        shown = "" if size == vreg.bytes else f".{letters[0]}{offset // size}"
        op = Operand(vreg, shown, role, (attributes or "").split(", "))
        op.fixed = op.fixed or vreg.fixed
        return op


class LinearScan:
    def __init__(self, function, usable, callee_saved, spill_all):
        self.f = function
        self.architectural = function.architectural_units()
        for v in function.vregs:
            if v.architectural:
                v.home = v.fixed
        self.usable = [u for u in usable if u not in self.architectural]
        if function.is_device:  # what the caller keeps there is left alone
            self.usable = [u for u in self.usable if u not in callee_saved]
            if any(op.fixed and not op.root.architectural and units(op.fixed) & callee_saved for i in function.insts for op in i.regs):
                raise Unsupported("an operand fixed to a callee-saved register")
        self.usable_set, self.places = set(self.usable), {}
        for inst in function.insts:
            for op in inst.regs:
                if op.fixed and not op.root.architectural and not units(op.fixed) <= self.usable_set:
                    raise Impossible(f"#{inst.id} needs {name(op.fixed)}")
        self.intervals = self.live_intervals()
        self.in_memory = set(self.intervals) if spill_all else set()
        self.busy = {}  # by unit: positions at which an instruction needs it for a fixed operand, or clobbers it
        for at, inst in enumerate(function.insts):
            for op in inst.regs:
                for u in units(op.fixed) if op.fixed else ():
                    self.busy.setdefault(u, []).append((at, False))
        for at, inst in enumerate(function.insts):
            for u in set().union(*map(units, inst.clobbers)):
                self.busy.setdefault(u, []).append((at, True))

    def live_intervals(self):
        f, ends = self.f, {}

        def mention(vreg, at):
            if not vreg.architectural:
                begin, end = ends.get(vreg, (at, at))
                ends[vreg] = (min(begin, at), max(end, at))

        for at, inst in enumerate(f.insts):
            for op in inst.regs:
                mention(op.root, at)
            for block, source in zip(inst.sources, inst.regs[1:]):
                mention(source.root, f.last[block])
        self.mentions = dict(ends)
        loops = [(f.first[t], f.last[n]) for n, b in enumerate(f.blocks) for t in b[-1].targets if f.first[t] <= f.last[n]]
        self.loop_ends = {at for loop in loops for at in loop}
        changed = BUG != "no-loops"
        while changed:
            changed = False
            for vreg, (begin, end) in ends.items():
                for first, last in loops:
                    if begin <= last and first <= end and not (begin <= first and last <= end):
                        begin, end, changed = min(begin, first), max(end, last), True
                ends[vreg] = (begin, end)
        return ends

    def is_free(self, unit, vreg):
        """Whether no instruction of the interval needs the unit. Where it is clobbered, a def may begin and a use end the interval."""
        (begin, end), (first, last) = self.intervals[vreg], self.mentions[vreg]
        for at, is_clobber in self.busy.get(unit, ()):
            may_stand = is_clobber and begin != end and at not in self.loop_ends and (at == begin == first or at == end == last)
            if begin <= at <= end and not may_stand:
                return False
        return True

    def windows(self, vreg, align=1):
        """The places where it could stand: first unit, and all units."""
        key = (vreg.file, vreg.units, max(align, vreg.align))
        if key not in self.places:
            tuples = ((u, units((file, u, vreg.units))) for file, u in self.usable if file == vreg.file and u % key[2] == 0)
            self.places[key] = [(u, window) for u, window in tuples if window <= self.usable_set]
        return self.places[key]

    def assign(self):
        """A home for each interval that is not in memory."""
        active, taken = [], set()
        for vreg in sorted((v for v in self.intervals if v not in self.in_memory), key=lambda v: self.intervals[v][0]):
            begin, end = self.intervals[vreg]
            for old in [v for v in active if self.intervals[v][1] < begin]:
                active.remove(old)
                taken -= units(old.home)
            vreg.home = None
            while vreg.home is None:
                free = (u for u, w in self.windows(vreg) if w.isdisjoint(taken) and all(self.is_free(x, vreg) for x in w))
                first = next(free, None)
                if first is not None:
                    vreg.home = (vreg.file, first, vreg.units)
                    active.append(vreg)
                    taken |= units(vreg.home)
                    break
                rivals = [v for v in active if v.file == vreg.file and self.intervals[v][1] > end]
                victim = max(rivals, key=lambda v: self.intervals[v][1], default=vreg)
                if victim is not vreg:
                    active.remove(victim)
                    taken -= units(victim.home)
                self.to_memory(victim)
                if victim is vreg:
                    break

    def to_memory(self, vreg):
        self.in_memory.add(vreg)
        vreg.home = None

    def place(self, inst):
        """A register for each operand of an instruction. Returns the vreg to be put into memory where there is none."""
        inst.moved = []  # (root, register, is read, is written): operands that are not in the home of their root
        temps, wanted = {}, []
        for op in inst.regs:
            op.reg = op.fixed or (op.root.home if op.tied is None else None)
        for op in inst.regs:  # a tied def stands where its use does
            if op.tied is None:
                continue
            use = inst.by_number[op.tied]
            others = [o for o in inst.regs if o is not op and o is not use and o.root is op.root and o.reads]
            home = op.root.home
            if home and (home[1] % use.root.align or others and op.root is not use.root):
                home = None
            op.reg = op.fixed or use.fixed or home
            wanted.append(((op, use), op.reg))
        for op in inst.regs:
            if op.reg is None and op.tied is None and not any(op in pair for pair, _ in wanted):
                temps.setdefault(op.root, []).append(op)
        wanted = [(list(ops), reg) for ops, reg in wanted] + [(ops, None) for ops in temps.values()]
        if wanted:
            reads = self.taken.union(*(units(o.fixed) for o in inst.regs if o.fixed and (o.reads or o.both)))
            writes = self.taken.union(*(units(o.fixed) for o in inst.regs if o.fixed and o.writes))
            for ops, reg in wanted:
                if reg:
                    reads |= units(reg)
                    writes |= units(reg)
            clobbered = set().union(*map(units, inst.clobbers))
        for ops, reg in sorted(wanted, key=lambda w: -w[0][0].root.units):
            root = ops[0].root
            in_reads = any(o.reads or o.both for o in ops)
            in_writes = any(o.writes for o in ops)
            if reg is None:
                for first, window in self.windows(root, max(o.root.align for o in ops)):
                    if in_reads and window & reads or in_writes and window & writes:
                        continue
                    if any(o.both for o in ops) and window & clobbered:
                        continue
                    reg = (root.file, first, root.units)
                    break
                else:
                    return self.victim(inst, root.file)
                if in_reads and not (BUG == "early-clobber" and not any(o.reads for o in ops)):
                    reads |= units(reg)
                if in_writes:
                    writes |= units(reg)
            for o in ops:
                o.reg = reg
        for op in inst.regs:
            if op.reg != op.root.home:
                inst.moved.append((op.root, op.reg, op.reads, op.writes))
        return None

    def victim(self, inst, file):
        """Who goes to memory where an instruction finds no register: rather not an operand, and the interval that ends last."""
        here = [v for v in self.here if v.file == file]
        mentioned = {o.root for o in inst.regs}
        if not here:
            raise Unsupported("an instruction whose operands need all registers there are")
        return max(here, key=lambda v: (v not in mentioned, self.intervals[v][1]))

    def run(self):
        """Assigns and places until each instruction finds the registers that it needs for a moment."""
        insts, begins, ends, sources = self.f.insts, {}, {}, {}
        for vreg, (begin, end) in self.intervals.items():
            begins.setdefault(begin, []).append(vreg)
            ends.setdefault(end, []).append(vreg)
        for inst in insts:
            for block, op in zip(inst.sources, inst.regs[1:]):
                sources.setdefault(self.f.last[block], []).append(op)
        failed = {None: True}
        while failed:
            self.assign()
            failed = {}  # in order
            self.here, self.taken = {}, set(self.architectural)  # who is in a register at a position, and where
            for at, inst in enumerate(insts):
                for v in begins.get(at, ()):
                    if v.home:
                        self.here[v] = True
                        self.taken |= units(v.home)
                failed.update({self.passage(inst, op): True for op in sources.get(at, ())})
                failed[self.passage(inst, inst.regs[0]) if inst.is_phi else self.place(inst)] = True
                for v in ends.get(at, ()):
                    if v in self.here:
                        del self.here[v]
                        self.taken -= units(v.home)
            failed.pop(None, None)
            for v in failed:
                self.to_memory(v)

    def passage(self, inst, op):
        """A register for the source or the def of a phi, which needs it only to pass through."""
        op.reg = op.root.home
        if op.reg is None:
            first = next((u for u, window in self.windows(op.root) if window.isdisjoint(self.taken)), None)
            if first is None:
                return self.victim(inst, op.root.file)
            op.reg = (op.root.file, first, op.root.units)
        return None


class NeedsWay(Exception):
    """What is no register of R reaches memory through one, and none is set aside for that."""


class Printer:
    """The allocated program as text."""

    def __init__(self, function, is_through_r, way, is_borrowed):
        self.f, self.slots, self.frame = function, [], function.variables
        self.is_through_r, self.way = is_through_r, way
        self.lent = self.add_slot(4) if is_borrowed else None  # what else is in the register meanwhile

    def slot(self, root):
        if root.slot is None:
            root.slot = self.new_slot(root)
        return root.slot

    def new_slot(self, root):
        size = 4 * root.units if root.file not in ("P", "UP") else 4 if self.is_through_r else 1
        return self.add_slot(size)

    def add_slot(self, size):
        align = min(16, size & -size)
        self.frame = (self.frame + align - 1) // align * align
        self.slots.append(f"  slot {len(self.slots)} local size {size} align {align} offset {self.frame}")
        self.frame += size
        return len(self.slots) - 1

    def inserted(self, text):
        self.f.next_id += 1
        return f"    +{self.f.next_id - 1} {text}"

    def load(self, reg, root):
        """What brings the value of a root to a register, and back."""
        if root.home:
            return self.inserted(f"{name(reg)} = copy {name(root.home)}")
        return self.refill(reg, self.slot(root))

    def store(self, reg, root):
        if root.home:
            return self.inserted(f"{name(root.home)} = copy {name(reg)}")
        return self.spill(reg, self.slot(root))

    def goes_through_r(self, file):
        if not self.is_through_r or file == "R":
            return False
        if not self.way:
            raise NeedsWay
        return True

    def borrow(self):
        return [] if self.lent is None else [f"spill {self.way}, slot {self.lent}"]

    def give_back(self):
        return [] if self.lent is None else [f"{self.way} = refill slot {self.lent}"]

    def refill(self, reg, slot):
        file, first, count = reg
        if not self.goes_through_r(file):
            return self.inserted(f"{name(reg)} = refill slot {slot}")
        lines = self.borrow()
        for k in range(count):
            word = (file, first + k, 1)
            back = f"bit_refill {self.way}, 0" if file in ("P", "UP") else f"copy {self.way}"
            lines += [f"{self.way} = refill slot {slot} + {4 * k}", f"{name(word)} = {back}"]
        return "\n".join(map(self.inserted, lines + self.give_back()))

    def spill(self, reg, slot):
        file, first, count = reg
        if not self.goes_through_r(file):
            return self.inserted(f"spill {name(reg)}, slot {slot}")
        lines = self.borrow()
        for k in range(count):
            word = name((file, first + k, 1))
            there = f"{self.way}{{inout}} = bit_spill {word}, 0" if file in ("P", "UP") else f"{self.way} = copy {word}"
            lines += [there, f"spill {self.way}, slot {slot} + {4 * k}"]
        return "\n".join(map(self.inserted, lines + self.give_back()))

    def phi_slots(self):
        slots = {i: self.new_slot(i.regs[0].root) for i in self.f.insts if i.is_phi}
        stores = {}
        for inst, slot in slots.items():
            for block, op in zip(inst.sources, inst.regs[1:]):
                stores.setdefault(block, []).append((op, slot))
        return slots, stores

    def text(self):
        slots, stores = self.phi_slots()
        out = []
        for n, block in enumerate(self.f.blocks):
            out.append(self.f.block_lines[n])
            refills = []
            for inst in block:
                if inst.is_phi:
                    out.append(f"    #{inst.id} phi{inst.flags} !deleted")
                    to = inst.regs[0]
                    refills.append(self.refill(to.reg, slots[inst]))
                    if not to.root.home:
                        refills.append(self.store(to.reg, to.root))
                    continue
                out += refills
                refills = []
                if inst is block[-1]:
                    for op, slot in stores.get(n, ()):
                        if not op.root.home:
                            out.append(self.load(op.reg, op.root))
                        out.append(self.spill(op.reg, slot))
                out += dict.fromkeys(self.load(reg, root) for root, reg in self.moves(inst, 2))
                out.append("".join(map(str, inst.pieces)))
                if not (BUG == "late-store" and inst.guarded):
                    out += [self.store(reg, root) for root, reg in self.moves(inst, 3)]
        header = self.f.header + " allocated"
        body = self.f.vreg_lines + self.slots + out
        return "\n".join(["rir 1", header, f"  frame local {self.frame} shared 0", *body, ""])

    @staticmethod
    def moves(inst, which):
        return dict.fromkeys((m[0], m[1]) for m in inst.moved if m[which])


def allocate(request):
    """The text of the allocated program. Raises Unsupported or Impossible."""
    lines = [line for line in request.splitlines() if line.strip()]
    head = [line[2:].split() for line in lines if line.startswith("//")]
    listed = {words[0]: words[1:] for words in head if words[0] != "knob:"}
    usable = [u for s in listed["registers:"] for u in sorted(units(stretch(s)))]
    saved = set().union(*(units(stretch(s)) for s in listed.get("callee-saved:", ())))
    spill_all = ["knob:", "spill-all=1"] in head
    body = [line for line in lines if not line.startswith("//")][1:]

    def text(way=None, is_borrowed=False):
        function = Function(body)
        LinearScan(function, [u for u in usable if u != way or is_borrowed], saved, spill_all).run()
        return Printer(function, "memory-through-r:" in listed, way and name((*way, 1)), is_borrowed).text()

    try:
        return text()
    except NeedsWay:
        others = saved | Function(body).architectural_units()
        way = max(u for u in usable if u[0] == "R" and u not in others)
    try:
        return text(way)
    except (Unsupported, Impossible):
        return text(way, is_borrowed=True)


def answer(out, word, number, payload):
    data = payload.encode()
    out.write(b"%s %d %d\n%s" % (word.encode(), number, len(data), data))
    out.flush()


def main():
    global BUG
    if sys.argv[1:2] == ["--bug"]:
        BUG = sys.argv[2]
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    answer(answers, "hello", 1, "name: linear-scan-py\nversion: 1\nknob: spill-all bool 0 0,1 Every vreg lives in memory\n")
    while line := requests.readline():
        _, number, length = line.split()
        request = requests.read(int(length)).decode()
        try:
            answer(answers, "allocated", int(number), allocate(request))
        except Unsupported as reason:
            answer(answers, "unsupported", int(number), str(reason))
        except Impossible as reason:
            answer(answers, "impossible", int(number), str(reason))


if __name__ == "__main__":
    main()
