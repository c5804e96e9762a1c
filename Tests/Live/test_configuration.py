"""The sources of settings, the message for a wrong one, what SIGHUP applies, and what the log says."""

import json
import signal
import subprocess

import pytest
import requests
from programs import ZUMO, free_port, wait_until


def setting(answer, name):
    return next(one for one in answer["settings"] if one["name"] == name)


def test_the_environment_wins_over_the_file_and_each_value_has_its_origin(world):
    person = world.person
    answer = person.json("config", "show", UNDERSTUDY_SYNC="auto")
    assert answer["file"] == str(world.file)
    assert setting(answer, "sync")["values"] == ["auto"]
    assert setting(answer, "sync")["origins"] == ["UNDERSTUDY_SYNC"]
    assert setting(answer, "table")["origins"] == [f"{world.file}:4 table"]
    assert setting(answer, "log-level")["values"] == []
    told = person.run("config", "show", "--origin").stdout
    assert f"table = todoitem  ({world.file}:4 table)" in told
    assert "# log-level = notice  (default)" in told


def test_an_invalid_value_in_the_file_is_reported_with_line_and_allowed_values(world):
    world.configure("backend = http://127.0.0.1:9\n\nlisten = 0.0.0.0:80\n")
    said = world.person.run("serve", expect=2).stderr
    assert said == (
        f'understudy: {world.file}:3 listen is "0.0.0.0:80", but must be a loopback address with a '
        "port, such as 127.0.0.1:8080.\n"
    )
    assert world.person.run("config", "show", expect=2).stderr == said
    world.configure("lisen = 127.0.0.1:80\n")
    assert f'{world.file}:1 is "lisen = 127.0.0.1:80"' in world.person.run("status", expect=2).stderr


def test_a_setting_with_one_value_on_two_lines_is_an_error_with_both(world):
    world.configure("backend = http://127.0.0.1:9\nsync = auto\n# hello\nsync = manual\n")
    said = f'{world.file}:4 sync is "manual", but must be said once, and line 2 says "auto".\n'
    for words in (["serve"], ["status"], ["config", "show"]):
        assert world.person.run(*words, expect=2).stderr == f"understudy: {said}", words


def test_a_variable_that_is_not_known_is_named_with_the_nearest(world):
    wrong = {"UNDERSTUDY_LISEN": "127.0.0.1:1"}
    told = ("The variable UNDERSTUDY_LISEN is not known, and changes nothing. "
            "Did you mean UNDERSTUDY_LISTEN?\n")
    assert world.person.run("config", "show", **wrong).stderr == told
    found = world.person.json("doctor", expect=None, **wrong)["findings"]
    assert [one["advice"] for one in found if "UNDERSTUDY_LISEN" in one["finding"]] == [
        "Did you mean UNDERSTUDY_LISTEN?"]
    world.start_proxy(**wrong)
    warned = wait_until(
        lambda: [one for one in logged(world.proxy) if one["message"] == "unknown variable"], 5, "it")
    assert warned[0]["level"] == "warning" and warned[0]["name"] == "UNDERSTUDY_LISEN"
    assert world.person.run("status", expect=3).stderr == ""


def test_a_boolean_is_yes_no_true_or_false_in_every_source(world):
    text = world.file.read_text()
    for value in ("yes", "no", "true", "false"):
        world.configure(f"{text}strict-sdk = {value}\n")
        assert setting(world.person.json("config", "show"), "strict-sdk")["values"] == [value]
        shown = world.person.json("config", "show", UNDERSTUDY_ALLOW_PLAIN_HTTP=value)
        assert setting(shown, "allow-plain-http")["values"] == [value]
    world.configure(f"{text}strict-sdk = on\n")
    said = world.person.run("serve", expect=2).stderr
    assert said.endswith('strict-sdk is "on", but must be yes, no, true or false.\n')
    # The command line can say no to a file that says yes.
    world.configure(f"{text}strict-sdk = yes\n")
    world.start_backend("--samples")
    for option, status in (("--strict-sdk", 400), ("--no-strict-sdk", 409)):
        world.start_proxy(option, "--sync", "manual")
        world.person.run("sync")
        row = world.insert({"text": "x"})
        world.person.run("sync")
        tables = f"{world.url}/tables/todoitem"
        assert requests.delete(f"{tables}/{row['id']}", headers=ZUMO, timeout=5).ok
        again = requests.post(tables, json={"id": row["id"]}, headers=ZUMO, timeout=5)
        assert again.status_code == status, (option, again.text)
        if option == "--strict-sdk":
            world.stop(world.proxy)
    answer = requests.get(f"{world.url}/-/readyz?verbose=no", timeout=5)
    assert [one["name"] for one in answer.json()["checks"]] == ["stores"]
    assert requests.get(f"{world.url}/-/readyz?verbose=maybe", timeout=5).status_code == 400


def test_config_init_writes_a_file_with_only_comments(person):
    person.run("config", "init")
    answer = person.json("config", "show")
    assert answer["file"].endswith(".config/understudy/understudy.conf")
    assert all(one["values"] == [] for one in answer["settings"])
    assert "make the file" in person.run("config", "init", expect=1).stderr
    # Every example in it is an allowed value.
    text = person.run("config", "init", "--stdout").stdout
    lines = [line[1:] for line in text.splitlines() if line[:1] == "#" and line[1:2].isalpha()]
    (person.home / "examples.conf").write_text("\n".join(lines))
    shown = person.json("config", "show", "--config", "examples.conf")
    assert len(lines) == len(shown["settings"])
    assert all(one["values"] for one in shown["settings"])
    # Each setting that SIGHUP applies says so.
    paragraphs = [one for one in text.split("\n\n")[1:] if "SIGHUP takes it over." in one]
    assert {one.rpartition("\n#")[2].split(" ")[0] for one in paragraphs} == {
        "sync", "parallelism", "page-size", "policy", "allow-host", "allow-origin", "tables-access",
        "forward-header", "log-level", "log-format", "keep-history", "keep-attempts", "keep-tombstones",
        "history-budget", "attempts-budget", "notify",
        "check-copies", "trust-table",
    }


def test_every_option_of_serve_is_a_setting_of_the_file(person, program):
    dump = subprocess.run(
        [program, "--experimental-dump-help"], capture_output=True, text=True, check=True
    )
    commands = {one["commandName"]: one for one in json.loads(dump.stdout)["command"]["subcommands"]}
    options = {one["valueName"] if one["kind"] == "flag" else one["preferredName"]["name"]
               for one in commands["serve"]["arguments"]}
    names = {one["name"] for one in person.json("config", "show")["settings"]}
    options -= {f"no-{name}" for name in names}
    # An option for one start only is not allowed in a file.
    assert options - names == {"config", "identity", "rebind", "help", "version"}
    assert names <= options


def test_a_header_that_must_not_be_forwarded_stops_the_start(person):
    for name in ("Host", "Authorization", ""):
        said = person.run(
            *("serve", "--backend", "http://127.0.0.1:9", "--forward-header", name), expect=2
        ).stderr
        assert f'--forward-header is "{name}", but must be the name of a header field' in said, name
    many = [part for number in range(17) for part in ("--forward-header", f"X-Name-{number}")]
    said = person.run("serve", "--backend", "http://127.0.0.1:9", *many, expect=2).stderr
    assert "forward-header is said 17 times, and may be 16 times" in said


def test_a_named_file_that_is_not_there_is_an_error(person):
    assert "config init" in person.run("status", "--config", "nowhere.conf", expect=2).stderr


def test_paths_follow_the_xdg_folders(person):
    paths = person.json("paths", XDG_DATA_HOME="/d", XDG_CONFIG_HOME="/c")
    assert paths["data"] == "/d/understudy"
    assert paths["config"] == "/c/understudy/understudy.conf"
    assert person.json("paths", XDG_DATA_HOME="d")["data"].startswith(str(person.home))


def logged(process):
    return [json.loads(line) for line in process.said().splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def running(shared_world):
    """A proxy for two reloads, of which the first changes nothing."""
    shared_world.start_proxy()
    return shared_world


def test_a_reload_with_an_invalid_value_changes_nothing(running):
    world = running
    text = world.file.read_text()
    world.configure(text + "policy = todoitem=sometimes\n")
    world.proxy.send_signal(signal.SIGHUP)
    told = wait_until(lambda: [one for one in logged(world.proxy) if one["level"] == "error"], what="it")
    assert told[0]["message"] == "configuration not reloaded"
    assert "policy is \"todoitem=sometimes\"" in told[0]["problem"]
    world.configure(text)


def test_sighup_applies_reloadable_settings_and_logs_the_others(running):
    world = running
    text = world.file.read_text()
    port = free_port()
    world.configure(
        text.replace("sync = manual", "sync = auto").replace(str(world.port), str(port))
        + "policy = todoitem=revalidate\nlog-level = info\nparallelism = 4\n"
        "allow-host = box:8080\nallow-origin = http://app.example\ndisk-budget = 4G\n"
    )
    shut = [requests.get(world.url + "/tables/todoitem", headers=fields, timeout=5).status_code
            for fields in ({"Host": "box:8080"}, {"Origin": "http://app.example"})]
    assert shut == [421, 403]
    world.proxy.send_signal(signal.SIGHUP)
    told = wait_until(
        lambda: [one for one in logged(world.proxy) if one["message"] == "configuration reloaded"],
        5,
        "the reload",
    )[0]
    assert set(told["changed"].split()) == {
        "sync", "policy", "log-level", "parallelism", "allow-host", "allow-origin",
    }
    assert told["waitsForRestart"] == "listen disk-budget"
    assert world.person.json("status", expect=3)["tables"][0]["readPolicy"] == "revalidate"
    assert world.person.json("settings")["parallelism"] == 4
    for fields in ({"Host": "box:8080"}, {"Origin": "http://app.example"}):
        answer = requests.get(world.url + "/tables/todoitem", headers=fields, timeout=10)
        assert answer.status_code not in (403, 421), fields


def test_a_reload_changes_the_access_to_tables_and_the_log_format(world):
    world.configure(world.file.read_text() + "allow-host = box:8080\n")
    world.start_proxy()
    ask = {"headers": {"Host": "box:8080"}, "timeout": 5}
    assert requests.get(world.url + "/-/livez", **ask).status_code == 200
    world.configure(
        world.file.read_text().replace("allow-host = box:8080", "log-format = text")
        + "tables-access = capability\n"
    )
    world.proxy.send_signal(signal.SIGHUP)
    wait_until(lambda: "configuration reloaded" in world.proxy.said(), what="the reload")
    line = next(one for one in world.proxy.said().splitlines() if "configuration reloaded" in one)
    assert " notice configuration reloaded " in line
    assert requests.get(world.url + "/-/livez", **ask).status_code == 421
    plain = requests.get(world.url + "/tables/todoitem", headers=ZUMO, timeout=5)
    assert plain.status_code == 401


def test_every_line_away_from_a_terminal_is_json_without_a_link(world):
    world.start_proxy()
    world.person.run("status", expect=None)
    lines = world.proxy.said().splitlines()
    assert lines and all(line.startswith("{") for line in lines), lines
    first = json.loads(lines[0])
    assert first["message"] == "understudy serves" and first["clients"] == world.url
    assert "#link=" not in world.proxy.said()


def test_the_log_is_json_without_contents_and_tokens(world):
    world.start_backend("--samples")
    world.start_proxy("--log-level", "trace", NOTIFY_SOCKET="/nowhere")
    world.insert({"id": "secret-id", "text": "secret text"})
    world.person.run("sync")
    token = (world.person.home / ".local/share/understudy/operator.token").read_text().strip()
    wait_until(lambda: len(logged(world.proxy)) > 1, what="the log")
    said = world.proxy.said()
    assert all({"time", "level", "message"} <= set(one) for one in logged(world.proxy))
    for secret in ("secret text", token, "#link="):
        assert secret not in said
    world.stop(world.proxy)


def test_the_log_can_be_text(world):
    world.start_backend("--samples")
    world.start_proxy("--log-format", "text")
    assert "stands in for" in world.proxy.said() and "#link=" not in world.proxy.said()
    world.person.run("sync")
    wait_until(lambda: "backend state changed" in world.proxy.said(), what="the state of the backend")
    line = next(line for line in world.proxy.said().splitlines() if "backend state changed" in line)
    assert " notice backend state changed identity=anonymous reason=" in line


def test_a_debug_log_follows_a_request_and_has_no_secret_in_it(world):
    world.start_backend("--samples")
    world.start_proxy()
    trace = "0af7651916cd43dd8448eb211c80319c"
    ask = {"headers": {**ZUMO, "traceparent": f"00-{trace}-b7ad6b7169203331-01"}, "timeout": 10}
    address = world.person.json("access", "add", "phone")["url"].rstrip("/")
    requests.get(world.url + "/tables/todoitem", **ask)
    world.configure(world.file.read_text() + "log-level = debug\n")
    world.proxy.send_signal(signal.SIGHUP)
    wait_until(lambda: "configuration reloaded" in world.proxy.said(), what="the reload")
    assert "request ended" not in world.proxy.said()
    query = "?$filter=text eq 'secret-text'"
    answers = [
        requests.get(place, **ask)
        for place in (
            world.url + "/tables/todoitem", world.url + "/tables/todoitem" + query,
            world.url + "/tables/todoitem/secret-id", address + "/tables/todoitem" + query,
            world.url + "/api/reset/secret-code?code=secret-code",
        )
    ]

    def lines():
        return [one for one in logged(world.proxy) if one.get("trace") == trace]

    wait_until(lambda: len(lines()) == len(answers), what="the lines")
    assert [one["path"] for one in lines()] == [
        "/tables/todoitem", "/tables/todoitem", "/tables/todoitem/*", "/c/*/tables/todoitem",
        "/api/reset/*",
    ]
    for line, answer in zip(lines(), answers):
        assert line["message"] == "request ended" and line["level"] == "debug"
        assert line["method"] == "GET" and line["status"] == answer.status_code
        assert line["bytes"] == len(answer.content)
        assert float(line["milliseconds"]) > 0
    said = world.proxy.said()
    assert "secret" not in said and address.rpartition("/")[2] not in said
