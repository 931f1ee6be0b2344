"""Takes lowered spills back: address arithmetic and accesses to memory become spills and refills of slots again."""

import fractions

from registers import bytes_of_units, operands_of, part_range, text_of, units_of
from rir import LOCAL, LOWERED, SHARED, STEPS, Record

ACCESSES = {"spill_stl": ("spill", LOCAL), "spill_ldl": ("refill", LOCAL), "spill_sts": ("spill", SHARED),
            "spill_lds": ("refill", SHARED)}
PHASE, MASK = "__nv_reservedSMEM_allocation_phase", "__nv_reservedSMEM_allocation_mask"


class Lowered:
    """Takes the lowered spills of an allocated program back, in place. The state maps address registers to (space, scale, bytes,
    masked): the register holds scale times the address of the frame in that space, plus bytes. A register that is not in the state
    holds no known address. The key None stands for the base of local memory, in bytes from the base at the entry. The state is
    followed along all paths."""

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
        good = good and (self.is_access(inst) or inst.inserted and not inst.clobbers
                         and bool(inst.guard) == (inst.op == "spill_bra"))
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
        barred = set(self.target.reserved[self.before.abi]).union(*(units_of(v.fixed) for v in self.before.vregs if v.architectural and v.fixed))
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
