"""The simulator as the release program has it: many more lives than a debug build has time for."""

import json
import os
import subprocess
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / ".build/release/understudy"
FIRST, COUNT = (int(text) for text in os.environ.get("SELFTEST_SEEDS", "0:2000").split(":"))

# How often each kind of fault happens at least, for every hundred seeds. The rarest, an answer put in
# the place of a write's, comes by a few times as often.
LEAST_FAULTS_FOR_HUNDRED_SEEDS = 1.5


def test_no_seed_loses_repeats_or_confuses_a_write():
    words = ["selftest", "--seeds", str(COUNT), "--seed-from", str(FIRST), "--json"]
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    print(f"seeds {FIRST} to {FIRST + COUNT - 1}: {report['steps']} steps, {report['seconds']} s")
    assert report["failures"] == [] and done.returncode == 0, done.stderr
    assert report["lives"] == COUNT
    least = COUNT / 100 * LEAST_FAULTS_FOR_HUNDRED_SEEDS
    rare = {kind: times for kind, times in report["faults"].items() if times < least}
    assert not rare and len(report["faults"]) > 10, (rare, report["faults"])
