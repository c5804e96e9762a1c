"""What docs/SITE.md tells an operator to write and to run, copied out of the page and run."""

import base64
import json
import os
import re
import subprocess

import pytest
from hostile import make_certificate
from programs import ROOT, SITE, free_port, wait_until

PAGE = (ROOT / "docs/SITE.md").read_text()


def section(title):
    """The text of a part of the page, up to the next part."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## )", PAGE, re.M | re.S).group(1)


def blocks(title):
    """The indented blocks of a part, each as text without its indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", section(title), re.M)
    return [re.sub(r"^    ", "", block, flags=re.M).strip() + "\n" for block in found]


def test_the_role_and_the_database_are_enough_for_a_node(start, postgresql):
    statements, line = blocks("Prepare the database")
    assert line.startswith("hostssl understudy understudy ")
    for statement in statements.splitlines():
        postgresql.sql(statement)
    url = postgresql.url.replace("/postgres?", "/understudy?").replace("user=postgres", "user=understudy")
    node = start.node("--database", url)
    node.insert({"id": "a"})
    assert [row["id"] for row in node.all()] == ["a"]
    node.stop()


def written(title):
    """The files that the blocks of a part show, by name: each begins with its path as a comment."""
    parts = re.split(r"^# /etc/\S*?([\w.]+)(?=[,:\n]).*\n", "\n".join(blocks(title)), flags=re.M)
    return {name: text.split("\n\n")[0] + "\n" for name, text in zip(parts[1::2], parts[2::2])}


def key_set(certificate):
    """The public key of a certificate as a JWK set."""
    def openssl(*arguments, bytes=None):
        return subprocess.run(["openssl", *arguments], input=bytes, capture_output=True, check=True).stdout

    public = openssl("x509", "-in", certificate, "-noout", "-pubkey")
    point = openssl("ec", "-pubin", "-outform", "DER", bytes=public)[-64:]
    x, y = (base64.urlsafe_b64encode(half).rstrip(b"=").decode() for half in (point[:32], point[32:]))
    return json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "kid": "1", "alg": "ES256", "x": x, "y": y}]})


def test_the_files_of_a_node_are_accepted(tmp_path):
    folder = "/etc/understudy/site"
    commands = [line for block in blocks("Start a node") for line in block.splitlines() if line.startswith("openssl")]
    assert len(commands) == 2
    for command in commands:
        subprocess.run(command.replace(folder, str(tmp_path)), shell=True, check=True)
    files = written("Start a node")
    make_certificate(tmp_path, "site")
    (tmp_path / "access.json").write_text(files["access.json"])
    (tmp_path / "aad.jwks").write_text(key_set(tmp_path / "site.pem"))
    settings = tmp_path / "backend.conf"
    settings.write_text(files["backend.conf"].replace(folder, str(tmp_path)))
    for one in tmp_path.iterdir():
        one.chmod(0o600)
    name, value = files["backend.env"].strip().split("=", 1)
    done = subprocess.run([SITE, "config", "check", settings], capture_output=True, text=True, timeout=30,
                          env={**os.environ, name: value.strip("'")})
    assert done.returncode == 0, done


@pytest.mark.parametrize("number", [0, 1])
def test_a_balancer_takes_its_file(tmp_path, number):
    certificate, key = make_certificate(tmp_path, "balancer")
    (tmp_path / "ca.pem").write_bytes(certificate.read_bytes())
    (tmp_path / "site.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    text = blocks("The balancer")[number].replace("ca-file ca.pem", f"ca-file {tmp_path}/ca.pem")
    file = tmp_path / "haproxy.cfg"
    file.write_text(text.replace("/etc/haproxy/site.pem", f"{tmp_path}/site.pem"))
    done = subprocess.run(["haproxy", "-c", "-f", file], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done


def test_a_node_builds_the_indexes_of_its_settings(start, postgresql):
    node = start.node("--database", postgresql.url)
    node.insert({"id": "a", "price": 1})
    node.stop()
    arguments = ["--index", "todoitem:price", "--index", "todoitem:colour", "--index", "todoitem:price desc"]
    port = free_port()
    program = start.program("--listen", f"127.0.0.1:{port}", "--database", postgresql.url, *arguments, binary=SITE)
    wait_until(lambda: program.output.count("index built") == 2, what="the indexes")
    assert "index not built" in program.output
    assert "The table todoitem has no column colour. It has price." in program.output
    assert postgresql.sql("SELECT indexes FROM understudy.tables") == '[["+price"],["-price"]]'
    program.stop()
    [line] = blocks("Lists that are slow")
    name, value = line.split(" = ")
    program = start.program("--listen", f"127.0.0.1:{port}", "--database", postgresql.url, f"--{name.strip()}", value,
                            binary=SITE)
    names = "SELECT string_agg(indexname, ' ') FROM pg_indexes WHERE indexname LIKE 'items% by %'"
    wait_until(lambda: postgresql.sql(names) == "items_1 by price desc", what="the drop of the other index")
    assert postgresql.sql("SELECT indexes FROM understudy.tables") == '[["-price"]]'
    program.stop()
    for arguments, words in [
        (["--index", "todoitem:price"], "--index needs PostgreSQL"),
        (["--database", postgresql.url, "--index", "price"], "a table, a colon and a column"),
    ]:
        done = subprocess.run([SITE, *arguments], capture_output=True, text=True, timeout=30)
        assert done.returncode == 2 and words in done.stderr, done
