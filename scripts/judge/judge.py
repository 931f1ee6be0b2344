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

  rir        reads the text
  registers  targets, and where the bytes of an operand lie
  lowered    takes lowered spills back
  contract   what the text shows of the contract
  steps      operands as ranges of two arrays of bytes
  runs       both programs in lockstep
"""

import argparse
import json
import pathlib
import sys

sys.dont_write_bytecode = True  # leaves no cache in the source tree
from contract import Contract, line_of  # noqa: E402
from lowered import Lowered  # noqa: E402
from registers import SHIPPED, UNITS, Before, Target  # noqa: E402
from rir import FILE_OF, BadInput, Record, read_program  # noqa: E402
from runs import Paths, Run  # noqa: E402
from steps import Compiler  # noqa: E402


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
    parser.add_argument("--limit", action="append", default=[], metavar="CLASS=N",
                        help="limit of another register file; repeatable")
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
