"""What an installation puts in place, keeps and removes, and what it says about the program's parts."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from programs import BINARY, ROOT, SITE

CONFIGURATION = "etc/understudy/understudy.conf"
BACKEND_CONFIGURATION = "etc/understudy/backend.conf"
DOCUMENTS = "usr/share/doc/understudy"


def install(tree, *what):
    finished = subprocess.run(
        [ROOT / "scripts/install", *(what or (BINARY, SITE))],
        env={**os.environ, "PREFIX": "/usr", "DESTDIR": str(tree)},
        check=True,
        capture_output=True,
        text=True,
    )
    return finished.stdout


def files(tree):
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}


def test_an_installation_makes_the_configuration_keeps_a_changed_one_and_is_removed_whole(tree, tmp_path):
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    configuration = copy / CONFIGURATION
    assert "#backend = https://example.azurewebsites.net" in configuration.read_text()
    configuration.write_text("backend = https://mine.example\n")
    assert f"kept: {configuration}" in install(copy)
    assert configuration.read_text() == "backend = https://mine.example\n"
    units = [copy / f"usr/lib/systemd/{kind}/understudy.service" for kind in ("system", "user")]
    assert all(unit.exists() for unit in units)
    assert f"/{CONFIGURATION}" in units[0].read_text()
    backend = copy / BACKEND_CONFIGURATION
    assert "#access-file = " in backend.read_text()
    unit = (copy / "usr/lib/systemd/system/understudy-backend.service").read_text()
    assert f"/{BACKEND_CONFIGURATION}" in unit and "ExecStart=/usr/bin/understudy-site\n" in unit
    user = re.search(r"^User=(\S+)$", unit, re.M)[1]
    assert f"u {user} " in (copy / "usr/lib/sysusers.d/understudy-backend.conf").read_text()
    told = install(copy, "--remove")
    assert files(copy) == {CONFIGURATION, BACKEND_CONFIGURATION}
    assert f"kept: {configuration}" in told and f"kept: {backend}" in told


def test_the_manuals_that_the_help_names_are_installed(tree):
    named = set()
    for command in ([], ["run"]):
        told = subprocess.run(
            [tree / "usr/bin/understudy-site", *command, "--help"], capture_output=True, text=True, check=True)
        named |= set(re.findall(r"docs/(\w+\.md)", told.stdout))
    named |= set(re.findall(r"docs/(\w+\.md)", (tree / DOCUMENTS / "prometheus/understudy-node.rules.yml").read_text()))
    assert named == {"OPERATIONS.md", "SITE.md"}
    for name in named:
        assert (tree / DOCUMENTS / name).read_text() == (ROOT / "docs" / name).read_text()


@pytest.mark.parametrize("program", ["understudy", "understudy-site"])
def test_the_bill_of_materials_names_every_library_and_package_with_its_version(tree, program):
    bill = json.loads((tree / DOCUMENTS / f"{program}.cdx.json").read_text())
    parts = {one["name"]: one for one in bill["components"]}
    assert len(parts) == len(bill["components"])
    assert bill["dependencies"] == [
        {"ref": program, "dependsOn": [one["bom-ref"] for one in bill["components"]]}
    ]
    pinned = re.findall(
        r'url: "https://github.com/\w[\w-]*/([\w.-]+?)(?:\.git)?", exact: "([\d.]+)"',
        (ROOT / "Package.swift").read_text(),
    )
    assert len(pinned) == 4
    for name, version in pinned:
        assert parts[name]["version"] == version
        assert parts[name]["purl"].endswith(f"/{name}@{version}")
    for name in ("libmicrohttpd", "libcurl", "SQLite", "GnuTLS"):
        assert parts[name]["licenses"]
    assert "version" in parts["libcurl"]
    assert ("libpq" in parts) == (program == "understudy-site")
    # The proxy compresses what it answers, and a site has none of the proxy.
    assert ("zlib" in parts) == (program == "understudy")


def test_the_program_of_a_site_has_nothing_of_the_proxy():
    (built,) = BINARY.resolve().parent.glob("understudy-site.product/Objects.LinkFileList")
    objects = built.read_text()
    assert "/Proxy.build/" not in objects and "/Backend.build/" in objects


def test_the_program_of_the_proxy_has_nothing_of_a_site(tree):
    """Neither PostgreSQL's library nor the keys that verify tokens."""
    libraries = subprocess.run(
        ["readelf", "-d", tree / "usr/bin/understudy"], capture_output=True, text=True, check=True).stdout
    assert "libpq" not in libraries
    (built,) = BINARY.resolve().parent.glob("understudy.product/Objects.LinkFileList")
    objects = built.read_text()
    assert not re.search(r"/(Signatures|PostgreSQL|Site)\.build/", objects) and "/Backend.build/" in objects


def test_the_notices_have_the_text_of_each_licence_that_they_name(tree):
    text = (tree / DOCUMENTS / "THIRD-PARTY-NOTICES.txt").read_text()
    assert text == (ROOT / "THIRD-PARTY-NOTICES.txt").read_text()
    named = set(re.findall(r"^    text (\d+)$", text, re.M))
    assert named == set(re.findall(r"^TEXT (\d+)$", text, re.M)) and len(named) >= 6
    assert "Copyright (C) 2015-2025 Gwendal Roué" in text or "Gwendal Roué" in text
    assert "UNICODE LICENSE V3" in text


def test_the_check_of_the_parts_sees_another_version_and_changed_notices(tmp_path):
    """The script runs in a copy of what it reads, so that the tree itself is not changed."""
    for name in ("scripts", "packaging"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("Package.swift", "Package.resolved", "THIRD-PARTY-NOTICES.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("Sources", ".build"):
        (tmp_path / name).symlink_to(ROOT / name)

    def check():
        return subprocess.run([tmp_path / "scripts/components", "check"], capture_output=True, text=True)

    assert check().returncode == 0, check().stderr
    package = tmp_path / "Package.swift"
    said = package.read_text()
    package.write_text(said.replace('swift-log", exact: "', 'swift-log", exact: "0.'))
    assert check().returncode == 1 and "swift-log" in check().stderr
    package.write_text(said)
    notices = tmp_path / "THIRD-PARTY-NOTICES.txt"
    notices.write_text(notices.read_text().replace("UNICODE LICENSE V3", "UNICODE LICENSE V4"))
    assert check().returncode == 1 and "scripts/components notices" in check().stderr


@pytest.mark.parametrize("name", ["understudy", "understudy-site"])
def test_the_program_is_position_independent_and_binds_at_the_start(tree, name):
    def told(flag):
        return subprocess.run(
            ["readelf", flag, tree / "usr/bin" / name], capture_output=True, text=True, check=True
        ).stdout

    assert re.search(r"Type:\s+DYN", told("-h"))
    assert "GNU_RELRO" in told("-l")
    assert re.search(r"BIND_NOW|FLAGS.*NOW", told("-d"))


def test_every_python_package_of_the_tests_has_hashes():
    lines = (ROOT / "Tests/requirements.txt").read_text().replace("\\\n", " ").splitlines()
    packages = [line.split() for line in lines if not line.startswith("#")]
    for name, *rest in packages:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", name), name
        assert rest and all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in rest), name
    locked = {name for name, *_ in packages}
    wanted = pathlib.Path(ROOT / "Tests/requirements.in").read_text().split()
    assert set(wanted) <= locked
