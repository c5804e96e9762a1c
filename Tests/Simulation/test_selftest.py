"""The simulator as the program has it: many runs, and many more of the release program in `make soak`."""

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from programs import BINARY, wait_until

FIRST, COUNT = (int(text) for text in os.environ.get("SELFTEST_SEEDS", "0:200").split(":"))
# Two programs side by side are done sooner than one with twice as many runs at once.
PARTS = [(FIRST, COUNT // 2), (FIRST + COUNT // 2, COUNT - COUNT // 2)]

# How often each kind of fault happens at least, for every hundred seeds. The rarest, an answer put in
# the place of a write's, comes by a few times as often.
LEAST_FAULTS_FOR_HUNDRED_SEEDS = 1.5
KINDS = 29
# A run that does not end is a failure too.
SECONDS_FOR_A_SEED = 0.5


def test_no_seed_loses_repeats_or_confuses_a_write():
    running = [
        subprocess.Popen(
            [BINARY, "selftest", "--seeds", str(count), "--seed-from", str(first), "--json"],
            stdout=subprocess.PIPE, text=True,
        )
        for first, count in PARTS
    ]
    faults = Counter()
    try:
        for part, program in zip(PARTS, running):
            faults.update(kept(part, program))
    finally:
        for program in running:
            program.kill()
    least = COUNT / 100 * LEAST_FAULTS_FOR_HUNDRED_SEEDS
    rare = {kind: times for kind, times in faults.items() if times < least}
    assert not rare and len(faults) >= KINDS, faults


def kept(part, program):
    """The counts of faults, where every promise was kept."""
    first, count = part
    answer, _ = program.communicate(timeout=60 + COUNT * SECONDS_FOR_A_SEED)
    report = json.loads(answer)
    last = first + count - 1
    print(f"seeds {first} to {last}: {report['steps']} steps, {report['seconds']} s")
    assert report["failures"] == [] and program.returncode == 0
    assert report["lives"] == count
    return report["faults"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_a_signal_stops_leaves_nothing_behind(number, tmp_path):
    def folders():
        # Its own: another one may run beside it.
        runs = Path("/dev/shm").glob(f"understudy-simulation-{program.pid}-*")
        return set(runs) | set(tmp_path.iterdir())

    program = subprocess.Popen(
        [BINARY, "selftest", "--seeds", "100000"],
        stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        wait_until(folders, 30, "the folder of a run")
        program.send_signal(number)
        assert program.wait(60) == 128 + number
    finally:
        program.kill()
    assert not folders()
