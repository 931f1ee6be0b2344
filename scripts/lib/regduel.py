"""What the scripts that measure have in common: how they call the program, which options they take, and how they print tables."""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOCATORS = ("fatpoint", "briggs")


def give_up(message):
    """Ends the script for bad use or bad input."""
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(2)


def call(regduel, *arguments):
    """Standard output and exit status of a command. 0 and 1 are results, any other status ends the script."""
    command = [str(word) for word in (regduel, *arguments)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if out.returncode > 1:
        give_up(f"{' '.join(command)}: exit status {out.returncode}")
    return out.stdout, out.returncode


def document_of(regduel, *arguments):
    """The JSON document of a command."""
    return json.loads(call(regduel, *arguments, "--json")[0])


def profiles_of(regduel):
    """All profiles of the generator, in its order: `gen --profile all` takes them in turn."""
    programs = document_of(regduel, "gen", "--profile", "all", "--size", "1", "--count", "100")["results"]
    return list(dict.fromkeys(program["profile"] for program in programs))


def chosen_profiles(regduel, names):
    """The profiles that --profiles names, comma-separated, or all."""
    every = profiles_of(regduel)
    chosen = names.split(",") if names else every
    for profile in chosen:
        if profile not in every:
            give_up(f'--profiles: no profile "{profile}" (there are {", ".join(every)})')
    return chosen


def knob_words(knobs):
    """The words of a command line that set these knobs, each NAME=VALUE."""
    return [word for knob in knobs for word in ("--knob", knob)]


def parser_of(text):
    """A parser with the options that all these scripts take; `text` is the help."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regduel", metavar="PATH", default=str(ROOT / "build/release/bin/regduel"),
                        help="the program (default: %(default)s)")
    parser.add_argument("--corpus", metavar="PATH", type=pathlib.Path, default=ROOT / "corpus/ptx",
                        help="the kernels: a directory or a file (default: corpus/ptx)")
    return parser


def options_of(parser):
    """The options of the command line, once the program that they name is there."""
    options = parser.parse_args()
    if not os.access(options.regduel, os.X_OK):
        give_up(f"no program {options.regduel}: build it, or name it with --regduel")
    return options


def geometric_mean(ratios):
    """None of nothing."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None


def table(rows, left=(0,), rule="-"):
    """Rows of cells as text, with a line of `rule` below the first; the columns `left` are to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(w) if k in left else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))).rstrip()
             for row in rows]
    below = [rule * len(lines[0])] if rule else []
    return "\n".join([lines[0], *below, *lines[1:]]) + "\n"


def markdown_table(rows, left=1):
    """The same in Markdown; the first `left` columns are to the left."""
    rule = ["---" if k < left else "---:" for k in range(len(rows[0]))]
    return "".join(f"| {' | '.join(row)} |\n" for row in (rows[0], rule, *rows[1:]))
