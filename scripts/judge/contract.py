"""The contract for an allocator, as far as the text of both programs shows it; and the faults that are found."""

import collections

from registers import UNITS_OF_VREGS, bytes_of_units, default_align, operands_of, part_range, text_of, units_of
from rir import INSERTED, LOCAL, PREDICATES, SHARED, Record

MOST_FAULTS = 20  # of one function and one kind


class Contract:
    """What the text shows of the contract for an allocator. `broken`: so much is wrong that there is nothing to run."""

    def __init__(self, before, after, target, limits, faults=()):
        self.before, self.after, self.target = before, after, target
        self.limits = {f: min(n, limits.get(f, n)) for f, n in target.units.items()}
        self.callee_saved = target.callee_saved[before.function.abi]
        self.faults = Faults(after.name)
        self.broken = False
        self.architectural = set().union(*(units_of(v.fixed) for v in before.function.vregs if v.architectural and v.fixed))
        kept = set() if before.function.kind == "kernel" else set(self.callee_saved)
        free = {("R", n) for n in range(self.limits.get("R", 0))} - target.reserved[before.function.abi] - self.architectural - kept
        self.through_r = target.memory_through_r[before.function.abi] and bool(free)
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
        if self.after.frames[LOCAL] < self.before.function.frames[LOCAL]:
            self.fault(None, None, "the frame has no room for the variables of the program")
        taken = {LOCAL: set(), SHARED: set()}
        for k, slot in enumerate(self.after.slots):
            place = set(range(slot.offset, slot.offset + slot.size))
            if slot.offset + slot.size > self.after.frames[slot.space]:
                self.fault(None, None, f"slot {k} lies outside of the frame")
            if slot.space == LOCAL and slot.offset < self.before.function.frames[LOCAL]:
                self.fault(None, None, f"slot {k} lies in the variables of the program")
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
        if units_of(preg) & self.target.reserved[self.before.function.abi]:
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
        file, _, units = reg.preg
        if file != "R" and self.through_r:
            self.fault(inst, 0, f"{self.text_of(reg.preg)} is no register of R")
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
        if theirs.preg[2] != ours.root.units or (theirs.preg[0] in PREDICATES) != (ours.root.file in PREDICATES):
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
        if (ours.op, ours.named, ours.mnemonic, ours.flags | {"deleted"}) != (theirs.op, theirs.named, theirs.mnemonic,
                                                                              theirs.flags):
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
