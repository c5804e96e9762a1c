"""One installed program for all tests of a run; a proxy with a backend, and a PostgreSQL, for each test that
asks for one."""

import contextlib
import fcntl
import pathlib
import tempfile

import pytest
from installed import Person, install, make_home, new_world, remove
from postgresql import PostgreSQL


@pytest.fixture(scope="session")
def tree(binary, testrun_uid, tmp_path_factory):
    """The first process of a run that needs it installs; the last one that leaves removes it. Between that they
    share a lock, which none waits to have alone."""
    place = pathlib.Path(tempfile.gettempdir()) / f"understudy-installed-{testrun_uid}"
    locks = tmp_path_factory.getbasetemp().parent / f"installed-{testrun_uid}"

    @contextlib.contextmanager
    def alone():
        with open(f"{locks}-changes", "w") as changes:
            fcntl.flock(changes, fcntl.LOCK_EX)
            yield

    with open(locks, "w") as users:
        with alone():
            fcntl.flock(users, fcntl.LOCK_SH)
            if not place.exists():
                install().rename(place)
        yield place
        with alone(), contextlib.suppress(BlockingIOError):
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove(place)


@pytest.fixture(scope="session")
def program(tree):
    return tree / "usr/bin/understudy"


@pytest.fixture
def person(program):
    person = Person(program, make_home())
    yield person
    person.stop()
    remove(person.home)


@pytest.fixture
def world(program):
    with new_world(program) as world:
        yield world


@pytest.fixture(scope="module")
def shared_world(program):
    """A world for the tests of a file. A test that stops a program, or that changes what others see, has its own."""
    with new_world(program) as world:
        yield world


@pytest.fixture
def postgresql():
    database = PostgreSQL()
    yield database
    database.remove()
