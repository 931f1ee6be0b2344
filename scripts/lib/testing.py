"""What the tests of the scripts that measure have in common. The last argument of a test is the program."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from regduel import ROOT

REGDUEL = str(pathlib.Path(sys.argv.pop()).resolve())

FAKE = """#!{python}
import json, sqlite3, subprocess, sys
REGDUEL, argv = {regduel!r}, sys.argv[1:]
{code}
sys.exit(subprocess.run([REGDUEL, *argv]).returncode)
"""

CHANGED_ROWS = """out = subprocess.run([REGDUEL, *argv], stdout=subprocess.PIPE, text=True)
document = json.loads(out.stdout)
for row in document["results"] if argv[0] == "duel" else []:
    {change}
print(json.dumps(document))
sys.exit(out.returncode)"""


def runner(script):
    """A function that runs scripts/SCRIPT on the program, in the root of the sources."""
    def run(*arguments, regduel=REGDUEL):
        return subprocess.run([ROOT / "scripts" / script, "--regduel", regduel, *map(str, arguments)], capture_output=True,
                              text=True,
                              check=False, cwd=ROOT)
    return run


class ScriptTest(unittest.TestCase):
    """Tests that share a folder."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def faked(self, code):
        """A program that is regduel, but for what this code does with `argv` before."""
        fake = self.folder / f"fake{len(list(self.folder.glob('fake*.py')))}.py"
        fake.write_text(FAKE.format(python=sys.executable, regduel=REGDUEL, code=code), encoding="utf-8")
        fake.chmod(0o755)
        return fake

    def with_changed_rows(self, change):
        """A program that answers as regduel does, but with each `row` of a duel changed by this statement."""
        return self.faked(CHANGED_ROWS.format(change=change))
