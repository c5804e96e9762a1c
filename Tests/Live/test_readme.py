"""The README's curl session, pasted line by line from the README itself."""

import json
import re
import subprocess

from programs import ROOT, Tables, free_port, wait_until


def session_lines():
    text = (ROOT / "README.md").read_text()
    section = text.split("## A session with curl")[1].split("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.S).group(1)
    return [line for line in block.splitlines() if line.strip() and not line.startswith("#")]


def paste(lines, ports, home):
    """Runs the lines in one shell, as a person would, and returns what each printed."""
    mark = "=-=-=-="
    script = "".join(f"{line}\necho; echo '{mark}'\n" for line in lines)
    script = script.replace("127.0.0.1:8080", f"127.0.0.1:{ports[0]}")
    script = script.replace("127.0.0.1:8081", f"127.0.0.1:{ports[1]}")
    finished = subprocess.run(
        ["bash", "-s"],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_DATA_HOME": str(home)},
    )
    assert finished.stderr == "", finished.stderr
    printed = [part.strip() for part in finished.stdout.split(mark)][:-1]
    return list(zip(lines, printed, strict=True))


def test_the_curl_session_works_when_pasted_line_by_line(start, tmp_path):
    ports = (free_port(), free_port())
    demo = start.program(
        *("demo", "--no-open"),
        *("--listen", f"127.0.0.1:{ports[0]}", "--backend-listen", f"127.0.0.1:{ports[1]}"),
        environment={"XDG_DATA_HOME": str(tmp_path)},
    )
    tables = Tables(f"http://127.0.0.1:{ports[0]}")

    def ready():
        demo.alive()
        try:
            return len(tables.list()) >= 12
        except Exception:
            return False

    wait_until(ready, 15, "the demo")
    said = paste(session_lines(), ports, tmp_path)
    answers = [json.loads(text) for line, text in said if line.startswith("curl") and text]
    problems = [one for one in answers if isinstance(one, dict) and "error" in one]
    assert problems == []

    def printed(*words):
        (found,) = [json.loads(t) for line, t in said if all(word in line for word in words)]
        return found

    assert len(printed("$top=2".replace("$", "\\$"))) == 2
    syncs = [json.loads(text) for line, text in said if "$OPERATOR/sync" in line]
    assert all(one["state"].startswith("complete") for one in syncs), syncs
    listed = [t for line, t in said if line.endswith('"$OPERATOR/conflicts"') and "=$(" not in line]
    (conflict,) = json.loads(listed[0])["items"]
    assert conflict["base"]["text"] == "Buy eggs"
    assert conflict["mine"]["text"] == "Buy eggs (6)"
    assert conflict["server"]["text"] == "Buy organic eggs"
    assert answers[-1]["text"] == "Buy eggs (6)"
    assert tables.get("eggs").json()["text"] == "Buy eggs (6)"


def test_the_commands_the_readme_names_exist():
    from programs import BINARY

    text = (ROOT / "README.md").read_text()
    help_text = subprocess.run([BINARY, "--help"], capture_output=True, text=True).stdout
    for command in set(re.findall(r"`(?:\S*/)?understudy ([a-z]+)", text)):
        assert re.search(rf"^\s+{command}\b", help_text, re.M), command
