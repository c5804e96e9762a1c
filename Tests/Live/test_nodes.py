"""Three nodes of `understudy-site` on PostgreSQL with a synchronous standby, behind a balancer, and proxies
with clients that write the same rows. Nodes and proxies are killed, the database restarts and fails over. In
the end each acknowledged write is at the backend once or shown as a conflict, and all have the same rows.

NODES_ROUNDS sets the number of rounds, NODES_PROXIES that of proxies, NODES_SEED the seed (`make soak`). A seed
repeats the same plans, not the same moments.
"""

import os
import random

import pytest
import requests
from account import Account
from clients import stop
from programs import ZUMO
from shared_database import Site, pages
from shared_rows import Client, Journal, columns_of

ROUNDS = int(os.environ.get("NODES_ROUNDS", "1"))
PROXIES = int(os.environ.get("NODES_PROXIES", "3"))
SEED = int(os.environ.get("NODES_SEED", "1"))
# Rounds with the same database; the next ones begin with an empty one.
ROUNDS_OF_SITE = 10
MOST_DECISIONS = 20


def faults(site, plan, number):
    """What happens in a round: everything in the first one, then some of it."""
    database = [site.restart_primary, site.fail_over, site.fail_over_to_a_standby_that_was_away]
    processes = [site.kill_node, site.kill_proxy]
    if number == 0:
        chosen = [*processes, site.restart_primary, site.fail_over_to_a_standby_that_was_away]
    else:
        others = [*database, site.restart_standby, site.kill_all_nodes]
        chosen = [*processes, *plan.choices(others, k=2), *plan.choices([*processes, *others], k=1)]
    plan.shuffle(chosen)
    return chosen


def play(site, journal, plan, number, label):
    """Clients work while things happen; then all is started again."""
    # Many clients write as much as few.
    pause = max(0.3, 0.04 * len(site.proxies))
    clients = [
        Client(
            f"r{number}p{place}c{one}", f"{label} {number} {place} {one}", place, proxy.url, journal, pause)
        for place, proxy in enumerate(site.proxies)
        for one in range(2 if PROXIES < 6 else 1)
    ]
    for client in clients:
        client.start()
    try:
        for fault in faults(site, plan, number):
            site.pause(0.5)
            print(f"  {fault.__name__}", flush=True)
            fault()
        site.pause(0.5)
    finally:
        stop(clients)
    assert [client.name for client in clients if client.is_alive()] == []
    assert [complaint for client in clients for complaint in client.complaints] == []
    site.wait_for_nodes()


def check(site, journal, decisions, conflicts):
    refused = site.each(lambda proxy: pages(proxy, "/operations?state=quarantined"))
    assert refused == [[]] * len(site.proxies)
    assert all(site.each(lambda proxy: proxy.status()["ledger"]["balances"]))
    done = site.each(lambda proxy: [(proxy, one) for one in pages(proxy, "/operations?state=done")])
    held = site.held()
    shown = {number: of_proxy + held[number] for number, of_proxy in conflicts.items()}
    account = Account(site.database.primary, site.proxies, journal, decisions, shown, sum(done, []))
    complaints = account.complaints()
    assert not complaints, "\n".join([f"{len(complaints)} complaints", *map(str, complaints[:8])])
    return account


def rows_of_node(node):
    """Every row with its deleted ones, as a node answers."""
    rows = []
    while True:
        query = {"$orderby": "id", "$top": 50, "$skip": len(rows), "__includeDeleted": "true"}
        answer = requests.get(f"{node.url}/tables/todoitem", params=query, headers=ZUMO, timeout=30)
        assert answer.status_code == 200, answer.text
        rows += answer.json()
        if not answer.json():
            return rows


def check_same(site, account):
    """Nodes, database and proxies have the same rows."""
    nodes = [rows_of_node(node) for node in site.nodes]
    assert nodes[0] == nodes[1] == nodes[2]
    kept = [(item["id"], item["deleted"], item["version"], columns_of(item["columns"]))
            for item in account.items]
    answered = [(row["id"], row["deleted"], row["version"], columns_of(row)) for row in nodes[0]]
    assert answered == kept
    live = [(row["id"], columns_of(row)) for row in nodes[0] if not row["deleted"]]
    for proxy, rows in zip(site.proxies, site.each(lambda proxy: proxy.all())):
        assert [(row["id"], columns_of(row)) for row in rows] == live, proxy.url


def settle(site, journal, decisions):
    """Drains the queues, compares, decides the conflicts, and compares again when none is left."""
    site.drain()
    conflicts = site.conflicts()
    shown = sum(map(len, conflicts.values()))
    check(site, journal, decisions, conflicts)
    for turn in range(MOST_DECISIONS):
        if not any(conflicts.values()):
            break
        # Where several proxies keep theirs, the row is a conflict again.
        decisions += site.decide(conflicts, 0.5 / (1 + turn))
        site.drain()
        conflicts = site.conflicts()
    assert not any(conflicts.values()), "conflicts come back"
    account = check(site, journal, decisions, conflicts)
    check_same(site, account)
    return shown, account


@pytest.mark.parametrize("first", range(0, ROUNDS, ROUNDS_OF_SITE))
def test_nodes_die_and_the_database_fails_over(binary, tmp_path, first):
    label = f"{SEED} {first}"
    plan = random.Random(label)
    print(f"NODES_SEED={SEED} NODES_PROXIES={PROXIES} rounds from {first}", flush=True)
    site = Site(tmp_path, PROXIES, plan)
    try:
        journal, decisions = Journal(), []
        writer = Client("first", label, 0, site.proxies[0].url, journal)
        for place in range(4 * PROXIES):
            write = journal.begin(0, f"shared{place}", "insert", {"text": f"first {place}"})
            answer = writer.send("POST", "", json={"id": write.row, **write.fields})
            assert writer.is_taken(write, answer, 201), answer
        journal.shared = [f"shared{place}" for place in range(4 * PROXIES)]
        site.drain()
        for number in range(min(ROUNDS_OF_SITE, ROUNDS - first)):
            before = len(journal.writes)
            print(f" round {first + number}", flush=True)
            play(site, journal, plan, number, label)
            shown, account = settle(site, journal, decisions)
            outcomes = [write.outcome for write in journal.writes[before:]]
            print(f"  {len(outcomes)} writes, {outcomes.count('acknowledged')} acknowledged,"
                  f" {outcomes.count('doubt')} in doubt, {shown} conflicts, {len(account.items)} rows",
                  flush=True)
            assert outcomes.count("acknowledged") > 0
    finally:
        site.close()
