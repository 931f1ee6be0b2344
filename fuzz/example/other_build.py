#!/usr/bin/env python3
"""Another build of regduel as an allocator of this one: is this commit better than that?

    regduel duel corpus/ptx --db r.sqlite --exec-protocol files \\
        --with "exec:'fuzz/example/other_build.py ../old/build/release/bin/regduel fatpoint',fatpoint"

Run once a program: OTHER ALLOCATOR INPUT OUTPUT. The head of the input says the limits and knobs (docs/own-allocator.md).
"""
import subprocess
import sys


def settings(path):
    """The limits and knobs of the request, as options."""
    options = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("//"):
                break
            words = line[2:].split()
            if words[:1] == ["limit:"]:
                for limit in words[1:]:
                    options += ["--limit", limit]
            elif words[:1] == ["knob:"]:
                options += ["--knob", words[1]]
    return options


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    other, allocator, given, result = sys.argv[1:]
    run = subprocess.run([other, "alloc", "--with", allocator, *settings(given), given, "-o", result],
                         capture_output=True, text=True, check=False)
    if run.returncode == 1:  # the limit is impossible
        with open(result, "w", encoding="utf-8") as file:
            file.write("impossible " + run.stderr)
    elif run.returncode == 2:  # a form of program that it did not know yet
        with open(result, "w", encoding="utf-8") as file:
            file.write("unsupported " + run.stderr)
    elif run.returncode != 0:
        sys.exit(run.stderr)


main()
