"""The metrics, and what packaging/prometheus makes of them: alerts and a board."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import requests
from installed import ZUMO
from programs import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMETHEUS = ROOT / "packaging/prometheus"
RULES = PROMETHEUS / "understudy.rules.yml"
NODE_RULES = PROMETHEUS / "understudy-node.rules.yml"
BOARD = PROMETHEUS / "understudy.dashboard.json"
CLIENTS = "understudy_client_request_duration_seconds"
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool")


def text_of(world):
    answer = requests.get(world.url + "/-/metrics", timeout=5)
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return answer.text


def samples(world):
    """The value of each series by its name and labels."""
    pairs = [line.rpartition(" ") for line in text_of(world).splitlines() if not line.startswith("#")]
    assert len({series for series, _, _ in pairs}) == len(pairs), "a series is there twice"
    return {series: float(value) for series, _, value in pairs}


def names(text):
    """The names of metrics in queries or in the text format, without the parts of a histogram."""
    found = re.findall(r"\b(?:understudy|process)_[a-z_]+", text)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}


@pytest.fixture
def busy(world):
    """A world in which everything that is measured has happened."""
    world.start_backend("--samples")
    world.start_proxy("--disk-budget", "50M", "--backup-every", "1d")
    world.insert({"id": "one", "text": "x"})
    world.person.run("sync")
    world.person.run("backup")
    requests.get(world.url + "/-/livez", headers={"Host": "elsewhere"}, timeout=5)
    return world


def test_requests_of_clients_are_a_histogram_by_table_verb_and_status(busy):
    table = busy.url + "/tables/todoitem"
    for _ in range(3):
        requests.get(table, headers=ZUMO, timeout=5)
    requests.get(table + "/one", headers=ZUMO, timeout=5)
    requests.patch(table + "/one", json={"text": "y"}, headers=ZUMO, timeout=5)
    requests.patch(table + "/one", json={"text": "z"}, headers={**ZUMO, "If-Match": '"bm8="'}, timeout=5)
    requests.delete(table + "/one", headers=ZUMO, timeout=5)
    requests.get(busy.url + "/tables/todoitem/one/two", headers=ZUMO, timeout=5)
    found = samples(busy)
    counts = {series[len(CLIENTS + "_count{"):-1]: value for series, value in found.items()
              if series.startswith(CLIENTS + "_count")}
    assert counts == {
        'table="todoitem",verb="delete",status="204"': 1,
        'table="todoitem",verb="get",status="200"': 1,
        'table="todoitem",verb="insert",status="201"': 1,
        'table="todoitem",verb="list",status="200"': 3,
        'table="todoitem",verb="update",status="200"': 1,
        'table="todoitem",verb="update",status="412"': 1,
    }, counts
    lists = 'table="todoitem",verb="list",status="200"'
    bounds = ["0.001", "0.005", "0.025", "0.1", "0.5", "2.5", "10.0", "+Inf"]
    buckets = [found[f'{CLIENTS}_bucket{{{lists},le="{bound}"}}'] for bound in bounds]
    assert buckets == sorted(buckets) and buckets[-1] == 3
    assert 0 < found[f"{CLIENTS}_sum{{{lists}}}"] < 3 * 5


def test_store_log_and_free_bytes_are_those_of_the_disk(busy):
    store = busy.person.home / ".local/share/understudy/stores/anonymous/store.sqlite"
    log = pathlib.Path(f"{store}-wal")

    def sizes():
        found = samples(busy)
        return [found[f'understudy_store_{name}{{identity="anonymous"}}'] for name in ("bytes", "log_bytes")]

    # The store may be written between two looks at it.
    wait_until(lambda: sizes() == [store.stat().st_size, log.stat().st_size], what="the sizes of the files")
    found = samples(busy)
    disk = os.statvfs(store)
    assert abs(found["understudy_disk_free_bytes"] - disk.f_bavail * disk.f_frsize) < 1 << 30
    assert 0 < found['understudy_disk_budget_used_ratio{identity="anonymous"}'] < 0.2


def test_the_process_has_the_metrics_of_the_client_libraries(busy):
    found = samples(busy)
    pid = busy.proxy.pid
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    most = re.search(r"Max open files +(\d+)", limits)
    assert found["process_max_fds"] == float(most[1])
    assert 3 < found["process_open_fds"] <= len(os.listdir(f"/proc/{pid}/fd")) + 20
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    booted = float(re.search(r"btime (\d+)", pathlib.Path("/proc/stat").read_text())[1])
    started = booted + float(fields[19]) / os.sysconf("SC_CLK_TCK")
    assert found["process_start_time_seconds"] == pytest.approx(started, abs=0.02)
    used = (float(fields[11]) + float(fields[12])) / os.sysconf("SC_CLK_TCK")
    assert 0 < found["process_cpu_seconds_total"] <= used + 0.02
    assert found["process_resident_memory_bytes"] > 1 << 20
    assert found["process_virtual_memory_bytes"] > found["process_resident_memory_bytes"]
    assert found["process_virtual_memory_max_bytes"] >= found["process_virtual_memory_bytes"]


def test_every_metric_of_the_alerts_and_of_the_board_is_there(busy):
    there = names(text_of(busy))
    board = json.loads(BOARD.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(queries) > 30
    used = names("\n".join(queries))
    assert used <= there, used - there
    # What is measured is also shown, but for what most backends do not have.
    assert there - used <= {"understudy_build_info", "understudy_backend_changes_followed",
                            "process_virtual_memory_bytes", "process_virtual_memory_max_bytes"}, there - used
    alerts = re.findall(r"^ +expr: (.*)", RULES.read_text(), re.M)
    assert len(alerts) > 15 and names("\n".join(alerts)) <= there
    # A label of a query is one of its metric.
    series = text_of(busy)
    for query in queries + alerts:
        for name, labels in re.findall(r"((?:understudy|process)_[a-z_]+)\{([^}]*)\}", query):
            for label in re.findall(r'(\w+)(?:=~|!~|!=|=)"', labels):
                assert label in ("instance", "job") or re.search(rf"^{name}.*\b{label}=", series, re.M), query


def test_panels_of_the_board_do_not_overlap_and_have_numbers_of_their_own():
    panels = json.loads(BOARD.read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [(x, y) for panel in panels for grid in [panel["gridPos"]]
             for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])]
    assert len(set(cells)) == len(cells) and max(x for x, _ in cells) < 24


@needs_promtool
@pytest.mark.parametrize("rules", [RULES, NODE_RULES])
def test_promtool_accepts_the_alerts_and_each_fires_in_a_test(rules):
    tests = PROMETHEUS / rules.name.replace(".yml", ".test.yml")
    for command in (["check", "rules", rules], ["test", "rules", tests]):
        finished = subprocess.run(["promtool", *command], capture_output=True, text=True)
        assert finished.returncode == 0, finished.stdout + finished.stderr
    tested = tests.read_text()
    for alert in re.findall(r"- alert: (\w+)", rules.read_text()):
        assert f'alertname="{alert}"' in tested or f"alertname: {alert}" in tested, alert


def test_the_manual_names_every_alert():
    manual = (ROOT / "docs/OPERATIONS.md").read_text()
    listed = re.findall(r"^\| `(Understudy\w+)`", manual, re.M)
    assert listed == [alert for rules in (RULES, NODE_RULES)
                      for alert in re.findall(r"- alert: (\w+)", rules.read_text())]
    # Each alert on nodes is on a metric that the manual describes.
    for metric in names("\n".join(re.findall(r"^ +expr: (.*)", NODE_RULES.read_text(), re.M))):
        assert f"| `{metric}`" in manual, metric
