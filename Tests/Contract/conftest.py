"""An id of its own for each test that Schemathesis makes."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """With pytest 9.2 all tests of a function would have its id, without the operation."""
    for item in items:
        if item.name not in item.nodeid:
            item._id = item.parent.id.child(item.name)
