"""Fixtures for live, contract and browser tests: processes that are stopped at the end."""

import pytest
from programs import BINARY, OUTPUT, SITE, Backend, Node, Program, Proxy


@pytest.fixture(scope="session", autouse=True)
def binary():
    for program in (BINARY, SITE):
        if not program.exists():
            pytest.exit(f"{program} is missing: run 'make build' first", returncode=2)
    return BINARY


@pytest.fixture
def start(tmp_path, request):
    """Starts processes that are stopped at the end. Their output is kept in a file, and its end is
    shown with a test that fails."""
    running = []

    class Starter:
        def backend(self, *arguments, folder="backend"):
            backend = Backend(tmp_path / folder, arguments)
            running.append(backend)
            return backend.start()

        def backend_later(self, *arguments, folder="backend"):
            backend = Backend(tmp_path / folder, arguments)
            running.append(backend)
            return backend

        def node(self, *arguments, folder="backend"):
            node = Node(tmp_path / folder, arguments)
            running.append(node)
            return node.start()

        def proxy(self, backend_url, *arguments, folder="proxy"):
            proxy = Proxy(tmp_path / folder, backend_url, arguments)
            running.append(proxy)
            return proxy.start()

        def program(self, *arguments, **options):
            program = Program(arguments, **options)
            running.append(program)
            return program

    yield Starter()
    for one in reversed(running):
        program = one if isinstance(one, Program) else one.program
        if program:
            program.kill()
    name = f"{request.node.path.stem}-{request.node.name}".replace("/", "_")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with open(OUTPUT / f"{name}.log", "w") as log:
        for one in running:
            program = one if isinstance(one, Program) else one.program
            if program:
                log.write(f"$ {' '.join(program.arguments)}\n{program.output}\n\n")
                print("$", *program.arguments, *program.lines[-20:], sep="\n  ")
