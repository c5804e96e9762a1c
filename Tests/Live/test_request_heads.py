"""Heads of requests on /tables that the real servers take."""


def test_a_write_with_an_empty_content_type_is_accepted(start):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    made = proxy.request("POST", "/tables/book", data='{"id":"a"}', headers={"Content-Type": ""})
    assert made.status_code == 201, made.text
    other = proxy.request("POST", "/tables/book", data="id=b", headers={"Content-Type": "text/plain"})
    assert other.status_code == 415


def test_options_answers_the_methods_of_a_path(start):
    proxy = start.proxy("http://127.0.0.1:9", "--sync", "manual")
    answer = proxy.request("OPTIONS", "/tables/book")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Allow"] == "GET, HEAD, POST, PATCH, OPTIONS"
    assert "HEAD" in proxy.request("OPTIONS", "/tables/book/a").headers["Allow"]
    proxy.insert({"id": "a"}, "book")
    listed = proxy.request("HEAD", "/tables/book")
    assert (listed.status_code, listed.content) == (200, b"")
