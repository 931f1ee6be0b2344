#!/usr/bin/env python3
"""Another build of regduel as an allocator of this one: is this commit better than that?

    regduel duel --random 2000 --db r.sqlite \\
        --with "exec:'example/other_build.py ../old/build/release/bin/regduel fatpoint',fatpoint"

OTHER ALLOCATOR. Runs OTHER once a program, with the limits and knobs of the request (docs/own-allocator.md).
"""
import json
import os
import subprocess
import sys
import tempfile


def hello(other, allocator):
    """Its version, and its knobs: those of the program here that have the same name are passed on."""
    version = subprocess.run([other, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    knobs = json.loads(subprocess.run([other, "knobs", "--json"], capture_output=True, text=True, check=True).stdout)["knobs"]
    lines = [f"name: {allocator}-of-another-build", f"version: {version}"]
    lines += [f"knob: {k['name']} {k['type'].split()[0]} {k['default']} - {k['help']}" for k in knobs if k["owner"] == allocator]
    return "\n".join(lines) + "\n"


def settings(request):
    """The limits and knobs of the request, as options."""
    options = []
    for line in request.splitlines():
        if not line.startswith("//"):
            break
        words = line[2:].split()
        if words[:1] == ["limit:"]:
            options += [word for limit in words[1:] for word in ("--limit", limit)]
        elif words[:1] == ["knob:"]:
            options += ["--knob", words[1]]
    return options


def allocate(other, allocator, request, folder):
    """The word and the text of the answer."""
    given, result = os.path.join(folder, "given.rir"), os.path.join(folder, "result.rir")
    with open(given, "w", encoding="utf-8") as file:
        file.write(request)
    run = subprocess.run([other, "alloc", "--with", allocator, *settings(request), given, "-o", result],
                         capture_output=True, text=True, check=False)
    if run.returncode == 1:  # the limit is impossible
        return "impossible", run.stderr
    if run.returncode == 2:  # a form of program that it did not know yet
        return "unsupported", run.stderr
    if run.returncode != 0:
        sys.exit(run.stderr)
    with open(result, encoding="utf-8") as file:
        return "allocated", file.read()


def answer(word, number, payload):
    data = payload.encode()
    sys.stdout.buffer.write(b"%s %d %d\n%s" % (word.encode(), number, len(data), data))
    sys.stdout.buffer.flush()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    other, allocator = sys.argv[1:]
    answer("hello", 1, hello(other, allocator))
    with tempfile.TemporaryDirectory() as folder:
        while line := sys.stdin.buffer.readline():
            _, number, length = line.split()
            request = sys.stdin.buffer.read(int(length)).decode()
            word, text = allocate(other, allocator, request, folder)
            answer(word, int(number), text)


if __name__ == "__main__":
    main()
