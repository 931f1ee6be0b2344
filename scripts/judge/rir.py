"""Reads RIR as ir/FORMAT.md has it: a program is a dictionary of functions by name, and everything in them is a Record."""

import functools
import re

TERMINATORS = {"ret", "exit", "bra", "cbra", "mbra"}
INSERTED = {"copy", "spill", "refill", "p2r", "r2p", "bit_spill", "bit_refill", "remat", "bra"}
STEPS = {"getlmembase", "spill_mov", "spill_iadd", "spill_imad", "spill_shl", "spill_lop3"}  # of lowered spills: to A
LOWERED = STEPS | {"setlmembase", "spill_bra", "spill_stl", "spill_ldl", "spill_sts", "spill_lds"}
MOVES = {"copy", "pack", "unpack"}
KEYWORDS = INSERTED | LOWERED | TERMINATORS | MOVES | {"phi", "const", "call", "bar"}
FLAGS = {"read", "write", "readonly", "barrier", "remat", "commutative", "convergent", "deleted"}
LOCAL, SHARED = "local", "shared"
FILE_OF = {"R": "R", "Ralt": "R", "UR": "UR", "URext": "UR", "P": "P", "UP": "UP", "ACC": "ACC", "B": "B", "UB": "UB"}
PREDICATES = ("P", "UP")

STRING = r'"(?:\\.|[^"\\])*"'
FILE = r"(?:UR|UP|UB|ACC|R|P|B)"
PREG = rf"({FILE})(\d+)(?!\w)"
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class BadInput(Exception):
    pass


class Record:
    """A bag of named fields."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


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
