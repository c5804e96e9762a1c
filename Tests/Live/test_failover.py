"""A node of `understudy-site` whose primary is lost: what it answered is on the standby that takes over."""

import threading

import pytest
import requests
from postgresql_pair import PostgreSQLPair
from programs import ZUMO, Node, wait_until


@pytest.fixture
def pair():
    pair = PostgreSQLPair()
    yield pair
    pair.remove()


class Answer(threading.Thread):
    """A request that is sent now and answered at some time; `code` is None where no answer came."""

    def __init__(self, method, url, **options):
        super().__init__(daemon=True)
        self.request = (method, url, options)
        self.code = None
        self.start()

    def run(self):
        method, url, options = self.request
        try:
            self.code = requests.request(method, url, headers=ZUMO, timeout=60, **options).status_code
        except requests.RequestException:
            pass


def test_what_the_standby_has_not_is_neither_acknowledged_nor_shown(binary, pair, tmp_path):
    node = Node(tmp_path, ["--database", pair.url]).start()
    try:
        node.insert({"id": "before"})
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        pair.standby.stop("fast")
        insert = Answer("POST", node.url + "/tables/todoitem", json={"id": "alone"})
        wait_until(lambda: pair.primary.sql(waiting) != "0", what="the commit that waits for the standby")
        # After a crash the primary shows the commit that nobody waits for any more.
        pair.primary.stop("immediate")
        pair.primary.start()
        assert pair.primary.sql("SELECT count(*) FROM understudy.items WHERE id = 'alone'") == "1"
        look = Answer("GET", node.url + "/tables/todoitem/alone")
        wait_until(lambda: pair.primary.sql(waiting) != "0" or look.code, what="a request that waits")
        look.join(3)
        insert.join(1)
        assert (insert.code, look.code) == (None, None), "answered without the standby"

        pair.primary.stop("immediate")
        pair.standby.start()
        pair.promote()
        pair.remake_standby()
        insert.join(60)
        look.join(60)
        assert insert.code in (201, 503) and look.code in (200, 404, 503), (insert.code, look.code)
        # After 503 a client tries again.
        if insert.code == 503:
            node.insert({"id": "alone"})
        assert sorted(row["id"] for row in node.all()) == ["alone", "before"]
        assert pair.primary.sql("SELECT count(*) FROM understudy.effects") == "2"
    finally:
        node.stop()
