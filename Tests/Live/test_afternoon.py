"""An afternoon of two users, directly at a server with scripts and through Understudy with its default options."""

import pytest
from afternoon import USERS, play
from node_server import NodeServer

SEEDS = (1, 2, 3)
STEPS = 90


def seen_by_reads(seen):
    """What a user saw, without the column that the script for reads leaves out."""
    if not isinstance(seen.shown, dict):
        return seen.shown
    return {name: value for name, value in seen.shown.items() if name != "secret"}


def is_merged(step, direct, through):
    """Two users changed different columns: no conflict is left to the app, and its user sees the same row."""
    return (step.kind == "update" and direct.statuses[-2:] == (412, 200)
            and through.statuses == (*direct.statuses[:-2], 200) and seen_by_reads(direct) == seen_by_reads(through))


def is_gone_twice(step, direct, through):
    """Another user has deleted the item meanwhile: it is gone, which is what this one wants."""
    return step.kind == "delete" and direct.statuses == (412,) and through.statuses == (200,)


# What remains, with its reason: docs/PROTOCOL.md, "What a client notices of the stand-in".
DEVIATIONS = (is_merged, is_gone_twice)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_afternoon_through_understudy_is_as_one_at_the_server(start, seed):
    alone, behind = NodeServer(), NodeServer()
    try:
        direct = play(alone, alone.url, seed, STEPS)
        proxy = start.stand_in(behind.url)
        through = play(behind, proxy.url, seed, STEPS)
        complaints = [
            f"{step}\n  direct  {one}\n  through {other}"
            for (step, one), (_, other) in zip(direct, through, strict=True)
            if one != other and not any(allowed(step, one, other) for allowed in DEVIATIONS)]
        assert not complaints, f"seed {seed}:\n" + "\n".join(complaints)
        # Whole tables, and how many effects each row had.
        assert behind.everything() == alone.everything(), f"seed {seed}"
        statuses = [proxy.operator("GET", f"/status?identity={one}") for one in proxy.status()["identities"]]
        assert len(statuses) == 1 + len(USERS)
        for status in statuses:
            ledger = status["ledger"]
            assert ledger["accepted"] == ledger["applied"] + ledger["collapsed"] + ledger["discarded"], f"seed {seed}"
    finally:
        alone.stop()
        behind.stop()
