"""Runs both programs in lockstep along random paths, and compares what they read."""

import random

SKIPPED, DONE, UNKNOWN = range(3)  # whether a guarded instruction happens


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
        """What an operation writes, for each def: opaque bytes, or undefined ones where a remat could not make them again."""
        sizes = [b[1] - b[0] for _, b, _, _ in step.writes]
        flat = [cell for value in values for cell in value]
        if step.move:
            return split(flat, sizes)
        if b_side and None in flat and step.may_be_repeated:
            return [[None] * n for n in sizes]
        memory = self.memory if step.needs_memory else 0
        base = hash((self.salt, step.key, memory, *(0 if cell is None else cell for cell in flat)))
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
