"""Turns instructions into steps: their operands become ranges of two arrays of bytes, one of each program."""

import hashlib

from registers import bytes_of_units, operands_of, units_of
from rir import MOVES, Record


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
        step = Record(inst=theirs or ours, key=key_of(ours), move=not ours.named and ours.op in MOVES, guard=None, first=[],
                      early=[],
                      then=[], writes=[], clobbers=[], lost=self.lost_of(ours))
        step.needs_memory = "read" in ours.flags and "readonly" not in ours.flags or not ours.named and ours.op == "call"
        step.may_be_repeated = "remat" in ours.flags
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
