"""Fixtures for live, contract and browser tests: processes that are stopped at the end."""

import collections
import contextlib
import functools
import re

import pytest
from programs import BINARY, OUTPUT, ROOT, SITE, Backend, Node, Program, Proxy


@pytest.fixture(scope="session", autouse=True)
def binary():
    for program in (BINARY, SITE):
        if not program.exists():
            pytest.exit(f"{program} is missing: run 'make build' first", returncode=2)
    return BINARY


def pytest_collection_finish(session):
    """Of tests with the same id pytest-xdist runs one, and says nothing."""
    ids = collections.Counter(item.nodeid for item in session.items)
    twice = [id for id, count in ids.items() if count > 1]
    assert not twice, f"these ids belong to several tests: {twice}"


@functools.cache
def shares_programs(file):
    return re.search(r'scope="module"|[( ](pair|alone)[,)]', (ROOT / file).read_text()) is not None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Gives each process that is free the next test. The tests of a file that share programs stay together."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.split("::")[0]
            return file if shares_programs(file) else nodeid

    return Scheduling(config, log)


class Starter:
    """Starts processes that keep their data below a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def backend(self, *arguments, folder="backend"):
        return self.backend_later(*arguments, folder=folder).start()

    def backend_later(self, *arguments, folder="backend"):
        backend = Backend(self.folder / folder, arguments)
        self.running.append(backend)
        return backend

    def proxy(self, backend_url, *arguments, folder="proxy"):
        return self.proxy_later(backend_url, *arguments, folder=folder).start()

    def stand_in(self, backend_url, *arguments, folder="proxy"):
        """A proxy whose tables have the policies that users get without a setting."""
        proxy = self.proxy_later(backend_url, *arguments, folder=folder)
        proxy.standard = ()
        return proxy.start()

    def proxy_later(self, backend_url, *arguments, folder="proxy"):
        proxy = Proxy(self.folder / folder, backend_url, arguments)
        self.running.append(proxy)
        return proxy

    def node(self, *arguments, folder="backend"):
        node = Node(self.folder / folder, arguments)
        self.running.append(node)
        return node.start()

    def program(self, *arguments, **options):
        program = Program(arguments, **options)
        self.running.append(program)
        return program


@contextlib.contextmanager
def starting(folder, name):
    """A starter whose processes are stopped at the end. Their output is kept in a file, and its end is shown with a
    test that fails."""
    starter = Starter(folder)
    yield starter
    programs = [one if isinstance(one, Program) else one.program for one in starter.running]
    programs = [program for program in programs if program]
    for program in reversed(programs):
        program.kill()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with open(OUTPUT / f"{name.replace('/', '_')}.log", "w") as log:
        for program in programs:
            log.write(f"$ {' '.join(program.arguments)}\n{program.output}\n\n")
            print("$", *program.arguments, *program.lines[-20:], sep="\n  ")


@pytest.fixture
def start(tmp_path, request):
    with starting(tmp_path, f"{request.node.path.stem}-{request.node.name}") as starter:
        yield starter


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory, request):
    """Starts processes that the tests of a file share. A test that stops or kills a process, or that changes what
    others see of it, starts its own."""
    with starting(tmp_path_factory.mktemp("shared"), request.path.stem) as starter:
        yield starter
