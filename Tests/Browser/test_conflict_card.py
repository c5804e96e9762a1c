"""Many conflicts: next and previous, all of one kind at once, undo, keys, long and nested values."""

import json

import pytest
from playwright.sync_api import expect


@pytest.fixture
def clashing(pair):
    """Makes conflicts: every item is changed on both sides, with `mine` and `theirs` for each item."""
    backend, proxy = pair

    def clash(changes, **first):
        for id in changes:
            backend.insert({"id": id, "text": f"base {id}", **first})
        proxy.sync()
        for id, (mine, theirs) in changes.items():
            proxy.update(id, mine)
            backend.update(id, theirs)
        proxy.sync()
        assert proxy.operator("GET", "/conflicts")["total"] == len(changes)
        return backend, proxy

    return clash


def three(clashing):
    return clashing({id: ({"text": f"mine {id}"}, {"text": f"theirs {id}"}) for id in "abc"})


def test_one_choice_decides_all_that_are_alike_and_one_click_takes_it_back(clashing, dashboard):
    backend, proxy = three(clashing)
    page = dashboard(proxy)
    page.open("conflicts")
    expect(page.page.locator(".position")).to_have_text("1 of 3")
    page.page.get_by_role("button", name="Next").click()
    expect(page.page.locator(".position")).to_have_text("2 of 3")
    page.page.get_by_role("button", name="Previous").click()
    page.page.get_by_role("button", name="Keep yours for all").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("3 conflicts at once")
    page.accessible()
    page.confirm("Keep yours for all 3")
    page.toast("3 conflicts decided")
    page.all_decided()
    page.undo()
    page.toast("3 decisions undone")
    # Each conflict is open again, and nothing was sent for it.
    expect(page.page.locator(".position")).to_contain_text("of 3")
    assert sorted(row["text"] for row in proxy.all()) == [f"mine {id}" for id in "abc"]
    page.sync()
    assert proxy.operator("GET", "/conflicts")["total"] == 3
    assert sorted(row["text"] for row in backend.all()) == [f"theirs {id}" for id in "abc"]


def test_all_that_are_alike_are_decided_also_beyond_the_page_that_is_shown(clashing, dashboard):
    backend, proxy = clashing(
        {f"c{n:03}": ({"text": f"mine {n}"}, {"text": f"theirs {n}"}) for n in range(130)})
    page = dashboard(proxy)
    page.open("conflicts")
    expect(page.page.locator("#alike-title")).to_have_text("At least 100 conflicts are alike")
    page.page.locator(".alike").first.get_by_role("button", name="Keep yours for all").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("130 conflicts at once")
    page.confirm("Keep yours for all 130")
    page.toast("130 conflicts decided")
    page.all_decided()


def test_whole_words_are_marked(clashing, dashboard):
    _, proxy = clashing({"a": (
        {"text": "Mine is late", "note": "Buy eggs (6)"},
        {"text": "Theirs is late", "note": "Buy organic eggs"})})
    page = dashboard(proxy)
    page.open("conflicts")
    marks = page.page.locator(".conflict .version mark")
    expect(marks).to_have_text(["Mine", "(6)", "Theirs", "organic"])


def test_a_radio_for_each_side_says_what_is_saved(clashing, dashboard):
    _, proxy = clashing({"a": ({"text": "mine"}, {"text": "theirs"})})
    page = dashboard(proxy)
    page.open("conflicts")
    yours = page.page.get_by_role("radio", name="Use yours for text")
    servers = page.page.get_by_role("radio", name="Use the server’s for text")
    result = page.page.get_by_label("Result: text")
    expect(yours).to_be_checked()
    servers.check()
    expect(result).to_have_value("theirs")
    expect(yours).not_to_be_checked()
    result.fill("something else")
    expect(servers).not_to_be_checked()
    expect(page.page.get_by_role("region", name="Yours")).to_contain_text("a client, ")
    expect(page.page.get_by_role("region", name="On the server")).to_contain_text("another writer, ")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    assert proxy.get("a").json()["text"] == "something else"


def test_a_list_beside_the_card_leads_to_each_conflict(clashing, dashboard):
    _, proxy = three(clashing)
    page = dashboard(proxy, viewport={"width": 1280, "height": 900})
    page.open("conflicts")
    items = page.page.get_by_role("navigation", name="Conflicts").get_by_role("link")
    expect(items).to_have_count(3)
    items.nth(2).click()
    expect(page.page.locator(".position")).to_have_text("3 of 3")
    expect(items.nth(2)).to_have_attribute("aria-current", "true")
    page.accessible()
    page.screenshot("conflict-list-1280-light")


def test_one_choice_takes_the_servers_for_all(clashing, dashboard):
    backend, proxy = three(clashing)
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_role("button", name="Keep the server’s for all").click()
    page.confirm("Keep the server’s for all 3")
    page.all_decided()
    assert sorted(row["text"] for row in proxy.all()) == [f"theirs {id}" for id in "abc"]
    page.undo()
    page.toast("3 decisions undone")
    assert sorted(row["text"] for row in proxy.all()) == [f"mine {id}" for id in "abc"]


def test_three_keys_decide_a_simple_one_and_u_takes_it_back(clashing, dashboard):
    backend, proxy = three(clashing)
    page = dashboard(proxy)
    keys = page.page.keyboard
    for key in "gc":
        keys.press(key)
    expect(page.page.locator(".position")).to_have_text("1 of 3")
    keys.press("n")
    expect(page.page.locator(".position")).to_have_text("2 of 3")
    expect(page.page.locator("#conflict-title")).to_contain_text("mine b")
    keys.press("s")
    expect(page.page.locator(".position")).to_contain_text("of 2")
    assert proxy.get("b").json()["text"] == "theirs b"
    keys.press("u")
    page.toast("1 decision undone")
    assert proxy.get("b").json()["text"] == "mine b"
    expect(page.page.locator(".position")).to_contain_text("of 3")
    keys.press("p")
    keys.press("b")
    expect(page.page.locator(".position")).to_contain_text("of 2")
    keys.press("a")
    expect(page.page.locator(".position")).to_contain_text("of 1")
    keys.press("a")
    page.all_decided()
    assert len(proxy.all()) == 4, "three and the one kept twice"


def test_changed_characters_long_texts_and_nested_values_are_readable(clashing, dashboard):
    essay = "\n".join(f"Line {n} of a long text that nobody wants to lose." for n in range(60))
    backend, proxy = clashing(
        {"a": (
            {"text": essay.replace("Line 7 ", "Line seven "), "tags": ["home", "mine"]},
            {"text": essay.replace("Line 9 ", "Line nine "), "note": "only there"},
        )},
        tags=["home"], note=None, text=essay,
    )
    page = dashboard(proxy, viewport={"width": 1440, "height": 900})
    page.open("conflicts")
    card = page.page.locator(".conflict")
    marks = card.locator(".version.mine mark")
    expect(marks.first).to_contain_text("seve")
    expect(page.page.get_by_label("Result: tags")).to_have_value('[\n "home",\n "mine"\n]')
    expect(page.page.get_by_label("Result: note")).to_have_value("only there")
    page.accessible()
    page.screenshot("conflict-long-1440-light")
    page.page.get_by_label("Result: text").fill("both")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    page.sync()
    row = backend.get("a").json()
    assert (row["text"], row["tags"], row["note"]) == ("both", ["home", "mine"], "only there")


def test_a_number_that_javascript_cannot_hold_survives_the_card(clashing, dashboard):
    backend, proxy = clashing({"a": ({"text": "mine", "big": 1}, {"text": "theirs"})}, big=0)
    proxy.request("PATCH", "/tables/todoitem/a", data='{"big":12345678901234567890.123}',
                  headers={"Content-Type": "application/json"})
    page = dashboard(proxy)
    page.open("conflicts")
    expect(page.page.get_by_label("Result: big")).to_have_value("12345678901234567890.123")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    page.sync()
    assert "12345678901234567890.123" in backend.get("a").text


def test_one_choice_decides_a_whole_table_whatever_clashes(clashing, dashboard):
    backend, proxy = clashing({
        "a": ({"text": "mine a"}, {"text": "theirs a"}),
        "b": ({"note": "mine b"}, {"note": "theirs b"}),
        "c": ({"text": "mine c"}, {"text": "theirs c"}),
    }, note="")
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_text("All conflicts of todoitem").click()
    page.accessible()
    page.page.locator("details.alike").get_by_role("button", name="Keep the server’s for all").click()
    expect(page.page.get_by_role("dialog")).to_contain_text("3 conflicts at once")
    page.confirm("Keep the server’s for all 3")
    page.toast("3 conflicts decided")
    page.all_decided()
    assert proxy.get("b").json()["note"] == "theirs b"
    page.undo()
    page.toast("3 decisions undone")
    assert proxy.get("b").json()["note"] == "mine b"


def test_the_undo_of_a_whole_table_leaves_the_decision_of_another_person(clashing, dashboard):
    backend, proxy = clashing({
        "a": ({"text": "mine a"}, {"text": "theirs a"}),
        "b": ({"note": "mine b"}, {"note": "theirs b"}),
        "c": ({"text": "mine c"}, {"text": "theirs c"}),
    }, note="")
    page = dashboard(proxy)
    page.open("conflicts")

    def decide_one_first(route):
        if not route.request.post_data_json.get("dryRun"):
            for one in proxy.operator("GET", "/conflicts")["items"]:
                if one["itemId"] == "a":
                    choice = {"revision": one["revision"], "choice": "mine"}
                    proxy.operator("POST", f"/conflicts/{one['id']}/resolve", json=choice)
        route.continue_()

    page.page.route("**/conflicts/resolve", decide_one_first)
    page.page.get_by_text("All conflicts of todoitem").click()
    page.page.locator("details.alike").get_by_role("button", name="Keep the server’s for all").click()
    page.confirm("Keep the server’s for all 3")
    page.toast("2 conflicts decided")
    page.undo()
    page.toast("2 decisions undone")
    assert {one["itemId"] for one in proxy.operator("GET", "/conflicts")["items"]} == {"b", "c"}
    page.sync()
    def rows(side):
        return {row["id"]: (row["text"], row["note"]) for row in side.all()}

    assert rows(proxy) == {"a": ("mine a", ""), "b": ("base b", "mine b"), "c": ("mine c", "")}
    assert rows(backend) == {"a": ("mine a", ""), "b": ("base b", "theirs b"), "c": ("theirs c", "")}


def test_the_result_leaves_every_other_column_alone(clashing, dashboard):
    """Columns that both sides agree on, or that only one side changed, arrive unchanged."""
    first = {"note": "kept", "rank": 7, "tags": ["home"], "done": False, "gone": "there"}
    backend, proxy = clashing(
        {"a": ({"text": "mine", "rank": 8, "gone": None}, {"text": "theirs", "done": True})}, **first)
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_label("Result: text").fill("both")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    page.sync()
    expected = {"id": "a", "text": "both", "note": "kept", "rank": 8, "tags": ["home"], "done": True,
                "gone": None, "deleted": False}
    for row in (backend.get("a").json(), proxy.get("a").json()):
        own = {name: value for name, value in row.items()
               if name not in ("createdAt", "updatedAt", "version")}
        assert {**{"gone": None}, **own} == expected


def test_a_field_that_a_side_emptied_is_null_and_not_an_empty_text(clashing, dashboard):
    backend, proxy = clashing({"a": ({"text": "mine", "note": None}, {"text": "theirs", "note": "x"})}, note="was")
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    page.sync()
    assert backend.get("a").json()["note"] is None


def test_what_was_typed_stays_when_the_servers_side_changes(clashing, dashboard):
    backend, proxy = clashing({"a": ({"text": "mine"}, {"text": "theirs"})}, note="")
    page = dashboard(proxy)
    page.open("conflicts")
    result = page.page.get_by_label("Result: text")
    result.fill("a careful mixture of both")
    backend.update("a", {"text": "theirs again"})
    proxy.operator("POST", "/tables/todoitem/pull?wait=20", json={})
    page.toast("changed")
    expect(page.page.locator(".conflict")).to_contain_text("theirs again")
    expect(result).to_have_value("a careful mixture of both")
    page.page.get_by_role("button", name="Save this version").click()
    page.all_decided()
    page.sync()
    assert backend.get("a").json()["text"] == "a careful mixture of both"


def test_the_sides_are_two_cards_whose_fields_are_in_line(clashing, dashboard):
    _, proxy = clashing({"a": ({"text": "mine", "note": "short"}, {"text": "theirs " * 40, "note": "x"})})
    page = dashboard(proxy, viewport={"width": 1440, "height": 900})
    page.open("conflicts")
    mine, server = page.page.locator(".version.mine"), page.page.locator(".version.server")
    expect(mine.locator("label")).to_have_count(2)
    places = [[box["y"] for box in map(lambda one: one.bounding_box(), side.locator("label").all())]
              for side in (mine, server)]
    assert places[0] == places[1]
    page.accessible()


def test_on_a_narrow_page_the_cards_stand_below_each_other(clashing, dashboard):
    _, proxy = three(clashing)
    page = dashboard(proxy, viewport={"width": 320, "height": 800})
    page.open("conflicts")
    expect(page.page.locator(".version")).to_have_count(3)
    boxes = [one.bounding_box() for one in page.page.locator(".version").all()]
    assert all(low["y"] + low["height"] <= high["y"] for low, high in zip(boxes, boxes[1:]))
    page.no_overflow("a conflict at 320")
    page.accessible()


COLUMNS = {"text": "base", "note": "kept", "rank": 7, "tags": ["home"], "done": False}
CHOICES = {"Keep yours": "mine", "Keep the server’s": "server", "Save this version": "edited"}


@pytest.mark.parametrize("button", CHOICES)
@pytest.mark.parametrize("reach", ["hover", "focus"])
def test_what_is_shown_is_what_is_written(clashing, dashboard, button, reach):
    """Before a choice is made the page shows the row that it writes: each column of it."""
    backend, proxy = clashing(
        {"a": ({"text": "mine", "rank": 8}, {"text": "theirs", "done": True, "tags": None})}, **COLUMNS)
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_label("Result: text").fill("typed")
    choice = page.page.get_by_role("button", name=button, exact=True)
    getattr(choice, reach)()
    card = page.page.locator(".result")
    expect(card.locator(".outcome")).to_contain_text(f"“{button}”")
    card.locator("summary").click()
    if reach == "focus":
        choice.focus()
    else:
        choice.hover()
    shown = {one.locator(".name").inner_text(): one.locator("textarea").input_value()
             for one in card.locator(".result-field").all()}
    names, values = card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts()
    shown.update(zip(names, values))
    choice.click()
    page.all_decided()
    page.sync()
    for row in (backend.get("a").json(), proxy.get("a").json()):
        written = {name: row.get(name) for name in COLUMNS}
        as_text = {name: value if isinstance(value, str) else "" if value is None else
                   "".join(json.dumps(value).split()) for name, value in written.items()}
        assert {name: "".join(text.split()) for name, text in shown.items()} == as_text
    # A look at another choice does not change what was typed.
    expected = {"mine": "mine", "server": "theirs", "edited": "typed"}[CHOICES[button]]
    assert backend.get("a").json()["text"] == expected


def test_a_look_at_a_choice_loses_nothing_that_was_typed(clashing, dashboard):
    _, proxy = three(clashing)
    page = dashboard(proxy)
    page.open("conflicts")
    result = page.page.get_by_label("Result: text")
    result.fill("typed")
    page.page.get_by_role("button", name="Keep the server’s", exact=True).hover()
    expect(result).to_have_value("theirs a")
    expect(result).not_to_be_editable()
    page.page.locator("h1").hover()
    expect(result).to_have_value("typed")
    expect(result).to_be_editable()


def test_a_deletion_says_what_each_choice_does(pair, dashboard):
    backend, proxy = pair
    for id in "ab":
        backend.insert({"id": id, "text": f"base {id}"})
    proxy.sync()
    proxy.update("a", {"text": "mine"})
    backend.delete("a")
    proxy.delete("b")
    backend.update("b", {"text": "theirs"})
    proxy.sync()
    page = dashboard(proxy)
    page.open("conflicts")
    assert proxy.operator("GET", "/conflicts")["total"] == 2
    for _ in range(2):
        title = page.page.locator("#conflict-title").inner_text()
        result = page.page.locator(".result")
        if "deleted on the server" in title:
            expect(page.page.locator(".version.server")).to_contain_text("deleted")
            expect(page.page.locator(".version.mine")).to_contain_text("mine")
            expect(result).to_contain_text("The row is on the server again, with your values.")
        else:
            expect(page.page.locator(".version.mine")).to_contain_text("deleted")
            expect(page.page.locator(".version.server")).to_contain_text("theirs")
            expect(result).to_contain_text("The row comes back here as it is on the server.")
        page.accessible()
        page.page.get_by_role("button", name="Next").click()
        expect(page.page.locator("#conflict-title")).not_to_have_text(title)


def test_after_a_decision_the_next_conflict_has_the_focus(clashing, dashboard):
    _, proxy = three(clashing)
    page = dashboard(proxy)
    page.open("conflicts")
    page.page.get_by_role("button", name="Keep yours", exact=True).focus()
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".position")).to_have_text("1 of 2")
    expect(page.page.locator("#conflict-title")).to_be_focused()
    page.page.get_by_label("Result: text").focus()
    proxy.update("b", {"text": "mine again"})
    expect(page.page.get_by_role("region", name="Yours")).to_contain_text("mine again")
    expect(page.page.get_by_label("Result: text")).to_be_focused()


def test_after_a_key_the_heading_of_the_next_conflict_has_the_focus(clashing, dashboard):
    _, proxy = three(clashing)
    page = dashboard(proxy)
    page.open("conflicts")
    expect(page.page.locator(".position")).to_have_text("1 of 3")
    for key, place in (("m", "1 of 2"), ("s", "1 of 1")):
        page.page.evaluate("document.activeElement.blur()")
        page.page.keyboard.press(key)
        expect(page.page.locator(".position")).to_have_text(place)
        expect(page.page.locator("#conflict-title")).to_be_focused()


@pytest.mark.parametrize("width", [320, 720, 1440])
def test_a_choice_does_not_move_from_under_the_pointer(clashing, dashboard, width):
    _, proxy = three(clashing)
    page = dashboard(proxy, viewport={"width": width, "height": 480})
    page.open("conflicts")
    choices = page.page.locator(".conflict .actions button")
    choices.last.scroll_into_view_if_needed()
    before = [choice.bounding_box() for choice in choices.all()]
    assert len(before) == 4
    for choice in choices.all():
        choice.hover()
        page.page.mouse.down()
        assert [one.bounding_box() for one in choices.all()] == before
        page.page.mouse.move(1, 1)
        page.page.mouse.up()
    # The second side names what it saves, and no other choice does.
    choices.nth(1).hover()
    expect(page.page.locator(".outcome > :not(.unsaid)")).to_have_count(1)
    expect(page.page.locator(".outcome > :not(.unsaid)")).to_contain_text("gives up your change")
