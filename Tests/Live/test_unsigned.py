"""Changes that were written while the backend was away, without a token, at a backend that wants one."""

import pytest
from programs import sign_in, wait_until


def written(start, *arguments):
    """A proxy with three such changes, whose backend is back, and its user, who has signed in since."""
    backend = start.backend("--sign-in", "todoitem")
    proxy = start.proxy(backend.url, *arguments)
    backend.stop()
    for number in range(3):
        proxy.insert({"id": f"n{number}", "text": f"text {number}"})
    backend.start()
    wait_until(lambda: proxy.status()["backend"]["state"] == "signedOut", 60, "the wish for a sign-in")
    ana = sign_in(proxy, "ana")
    return backend, proxy, ana, proxy.status()["identities"][1]


def upstream(backend):
    direct = sign_in(backend, "ana")
    return {row["id"]: (row["text"], row["userId"]) for row in direct.all()}


whole = {f"n{number}": (f"text {number}", "facebook:ana") for number in range(3)}


def test_they_stay_until_the_operator_gives_them_to_the_only_user(start):
    backend, proxy, ana, user = written(start)
    proxy.sync()
    assert upstream(backend) == {} and proxy.status()["queue"]["queued"] == 3
    offered = proxy.status()["unsigned"]
    assert (offered["operations"], offered["identity"]) == (3, user)
    doctor = proxy.command("doctor")
    assert f"understudy queue assign --identity {user}" in doctor.stdout
    plan = proxy.command("queue", "assign", "--identity", user, "--dry-run")
    assert plan.returncode == 0 and "3 operations" in plan.stdout, plan
    assert proxy.status()["queue"]["queued"] == 3
    assert proxy.command("queue", "assign", "--identity", user).returncode == 0
    wait_until(lambda: upstream(backend) == whole, 30, "all three upstream")
    for identity in ("anonymous", user):
        status = proxy.operator("GET", f"/status?identity={identity}")
        assert status["ledger"]["balances"] and sum(status["queue"].values()) == 0
    assert proxy.status()["unsigned"] is None


@pytest.mark.parametrize("kills", [False, True])
def test_the_setting_gives_them_to_the_next_sign_in(start, kills):
    backend, proxy, ana, user = written(start, "--adopt-unsigned", "next-sign-in")
    if kills:
        proxy.program.kill()
        proxy.start()
        ana.all()
    wait_until(lambda: upstream(backend) == whole, 40, "all three upstream")
