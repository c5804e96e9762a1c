"""A site: nodes of `understudy-site` on a PostgreSQL pair behind a balancer, proxies that sync to them, and
what happens to all of these."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import requests
from account import TRIGGER, Decision
from balancer import Balancer
from postgresql_pair import PostgreSQLPair
from programs import SITE, ZUMO, Program, Proxy, free_port, wait_until

NODES = 3
PENDING = ("queued", "sending", "waiting", "unknown")


class Node:
    """One node, started again whenever it ends, as systemd does."""

    def __init__(self, database, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = ["--listen", f"127.0.0.1:{self.port}", "--data", folder, "--database", database]
        self._closing = threading.Event()
        self._starting = threading.Lock()
        self._program = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while True:
            with self._starting:  # So that no program is started after `close`.
                if self._closing.is_set():
                    return
                self._program = Program(self._arguments, binary=SITE)
            self._program.process.wait()
            self._closing.wait(0.2)

    def kill(self):
        if self._program:
            self._program.process.kill()

    def is_ready(self):
        try:
            answer = requests.get(f"{self.url}/tables/todoitem?$top=1", headers=ZUMO, timeout=5)
            return answer.status_code == 200
        except requests.RequestException:
            return False

    def close(self):
        with self._starting:
            self._closing.set()
        self.kill()
        self._thread.join(5)


class Site:
    def __init__(self, folder, proxies, plan):
        self.plan = plan
        self.database = PostgreSQLPair()
        self.nodes, self.proxies, self.balancer = [], [], None
        try:
            self._start(folder, proxies)
        except BaseException:
            self.close()
            raise

    def _start(self, folder, proxies):
        self.nodes = [Node(self.database.url, folder / f"node{place}") for place in range(NODES)]
        self.wait_for_nodes()
        self.database.primary.sql(TRIGGER)
        self.balancer = Balancer([node.port for node in self.nodes])
        for place in range(proxies):
            generation = ("--backend-generation", "2")
            parallel = ("--parallelism", str(self.plan.choice([1, 4, 16])))
            self.proxies.append(Proxy(folder / f"proxy{place}", self.balancer.url, [*generation, *parallel]))
        self.each(lambda proxy: proxy.start())

    def close(self):
        for one in (*self.proxies, *self.nodes):
            if isinstance(one, Node):
                one.close()
            elif one.program:
                one.program.kill()
        if self.balancer:
            self.balancer.close()
        self.database.remove()

    def each(self, work):
        """Does something with all proxies, some at once."""
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(work, self.proxies))

    def wait_for_nodes(self):
        for node in self.nodes:
            wait_until(node.is_ready, 60, f"an answer of the node at {node.url}")

    # What happens to it.

    def pause(self, seconds):
        """Lets clients work, asks some proxies to sync, and may kill a node."""
        time.sleep(self.plan.random() * seconds)
        for proxy in self.plan.sample(self.proxies, min(3, len(self.proxies))):
            try:
                proxy.operator("POST", "/sync?wait=0", expect=None, json={})
            except requests.RequestException:
                pass
        if self.plan.random() < 0.2:
            self.plan.choice(self.nodes).kill()
        time.sleep(self.plan.random() * seconds)

    def kill_node(self):
        self.plan.choice(self.nodes).kill()

    def kill_all_nodes(self):
        for node in self.nodes:
            node.kill()

    def kill_proxy(self):
        proxy = self.plan.choice(self.proxies)
        proxy.program.kill()
        proxy.start()

    def restart_primary(self):
        self.database.primary.stop(self.plan.choice(["fast", "immediate"]))
        self.pause(0.4)
        self.database.primary.start()

    def restart_standby(self):
        self.database.standby.stop(self.plan.choice(["fast", "immediate"]))
        self.pause(0.4)
        self.database.standby.start()

    def fail_over(self):
        self.database.primary.stop(self.plan.choice(["fast", "immediate", "immediate"]))
        self.pause(0.3)
        self.database.promote()
        self.pause(0.3)
        self.database.remake_standby()

    def fail_over_to_a_standby_that_was_away(self):
        """The primary works on alone, restarts, works on and is lost; the standby has nothing of it."""
        self.database.standby.stop("fast")
        self.pause(0.5)
        if self.plan.random() < 0.7:
            self.database.primary.stop("immediate")
            self.database.primary.start()
            self.pause(1)
        self.database.primary.stop("immediate")
        self.database.standby.start()
        self.database.promote()
        self.pause(0.3)
        self.database.remake_standby()

    # How it comes to rest.

    def drain(self, seconds=120):
        """Syncs until no operation is on its way, and each proxy has pulled after that."""
        deadline = time.monotonic() + seconds

        def is_sent(proxy):
            while True:
                run = proxy.operator("POST", "/sync?wait=30", expect=None, json={})
                unsent = not_held(pages(proxy, "/operations"))
                if not unsent:
                    return
                assert time.monotonic() < deadline, f"{proxy.url} does not send: {run} {unsent[:3]}"

        self.each(is_sent)
        runs = self.each(lambda proxy: proxy.sync())
        for run in runs:
            assert run["state"] in ("complete", "completeWithErrors"), run

    def conflicts(self):
        """The open conflicts of each proxy, by its number."""
        return dict(enumerate(self.each(lambda proxy: pages(proxy, "/conflicts"))))

    def held(self):
        """The operations of each proxy that wait for a conflict of their item, by its number."""

        def of_proxy(proxy):
            waiting = [one for one in pages(proxy, "/operations") if one["state"] in PENDING]
            details = [proxy.operator("GET", f"/operations/{one['id']}") for one in waiting]
            return [{"itemId": one["summary"]["itemId"], "mine": one["payload"]} for one in details]

        return dict(enumerate(self.each(of_proxy)))

    def decide(self, conflicts, mine=0.5):
        """Decides each conflict at random, some for the local side, and returns the decisions. One that has
        changed meanwhile stays open."""
        decisions = []
        for number, of_proxy in conflicts.items():
            for conflict in of_proxy:
                choice = "mine" if self.plan.random() < mine else "server"
                body = {"revision": conflict["revision"], "choice": choice}
                path = f"/conflicts/{conflict['id']}/resolve"
                began = time.time()
                answer = self.proxies[number].operator("POST", path, expect=None, json=body)
                if answer.get("code") == "operation-changed":
                    continue
                assert "operation" in answer, answer
                decisions.append(Decision(number, conflict, choice, began, time.time()))
        return decisions


def not_held(operations):
    """Those that are on their way: neither in conflict nor behind an operation that is."""
    decided_by_people = {one["itemId"] for one in operations if one["state"] == "conflict"}
    return [one for one in operations if one["state"] in PENDING and one["itemId"] not in decided_by_people]


def pages(proxy, path):
    """All elements of a list of the operator API."""
    found, after = [], ""
    while True:
        page = proxy.operator("GET", f"{path}{'&' if '?' in path else '?'}limit=200{after}")
        found += page["items"]
        if page["next"] is None:
            return found
        after = f"&after={page['next']}"
