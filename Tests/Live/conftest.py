"""One installed program for all tests of the commands; a proxy with a backend, and a PostgreSQL, for each test that
asks for one."""

import pytest
from installed import Person, World, install, make_home, remove
from postgresql import PostgreSQL


@pytest.fixture(scope="session")
def tree(binary):
    tree = install()
    yield tree
    remove(tree)


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
    world = World(program, make_home())
    yield world
    world.person.stop()
    remove(world.person.home)


@pytest.fixture
def postgresql():
    database = PostgreSQL()
    yield database
    database.remove()
