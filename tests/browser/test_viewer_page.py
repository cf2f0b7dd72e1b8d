"""The page that shows an episode, used as people use it: mouse, keys, links, layers, colours."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browser import Pages, unnamed
from tests.helpers.watched_pages import questioned, recorded, write_page

HOSTILE = "<img src=x onerror=document.title='owned'></script><b>"


def position(page: Any) -> int:
    return int(page.locator(".scrubber").input_value())


def wait_for(page: Any, step: int) -> None:
    """Wait until the page shows a step: it draws in the next frame."""
    page.wait_for_function("step => document.querySelector('.at').textContent.startsWith(`${step} /`)", arg=step)


@pytest.fixture(scope="module")
def record_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("record"), recorded(), title="record against meander")


def test_it_loads_and_says_who_plays(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    assert page.title() == "record against meander"
    facts = page.locator(".facts").inner_text()
    for words in ("record", "meander", "leaderboard", "7"):
        assert words in facts
    assert page.locator(".card").count() == 13
    assert page.locator(".turn h2").inner_text() == "Before the first turn"
    assert page.locator("noscript").count() == 1


def test_every_step_shows_its_turn(pages: Pages, record_page: Path) -> None:
    page, turn = pages.open(record_page), recorded()["turn"]
    for step in (1, 2, 50, 100):
        page.evaluate(f"location.hash = 't={step}'")
        wait_for(page, step)
        said = page.locator(".spoken").inner_text()
        for text in (turn["blue_text"], turn["red_text"], turn["seen_text"]):
            assert text[step - 1] in said


def test_keys_move_through_time(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    for key, step in (
        ("ArrowRight", 1),
        ("Shift+ArrowRight", 11),
        ("ArrowLeft", 10),
        ("Shift+ArrowLeft", 0),
        ("ArrowLeft", 0),
        ("End", 100),
        ("ArrowRight", 100),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        wait_for(page, step)


def test_the_scrubber_obeys_keys_once(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    page.locator(".scrubber").focus()
    page.keyboard.press("ArrowRight")
    wait_for(page, 1)
    page.keyboard.press("Shift+ArrowRight")
    wait_for(page, 11)


def test_the_mouse_scrubs(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    box = page.locator(".scrubber").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for(page, 50)
    lanes = page.locator(".timeline").bounding_box()
    page.mouse.click(lanes["x"] + lanes["width"] - 8, lanes["y"] + 5)
    wait_for(page, 100)


def test_a_click_on_the_reward_shows_that_step(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    chart = page.locator("svg.reward")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.click(box["x"] + 38 + 0.755 * (box["width"] - 38 - 46), box["y"] + 20)
    wait_for(page, 76)
    assert page.locator(".readout").inner_text().startswith("Step 76")


def test_buttons_move_and_space_plays_to_the_end(pages: Pages, tmp_path: Path) -> None:
    page = pages.open(write_page(tmp_path, recorded("record", "meander", 12)))
    page.get_by_role("button", name="Last step").click()
    wait_for(page, 12)
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Step forward").click()
    wait_for(page, 1)
    page.get_by_role("button", name="Step back").click()
    wait_for(page, 0)
    page.get_by_label("Speed").select_option("30")
    page.locator("body").click(position={"x": 1, "y": 1})
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    assert page.locator(".spoken").get_attribute("aria-live") == "off"
    wait_for(page, 12)
    page.get_by_role("button", name="Play").wait_for()
    assert page.locator(".spoken").get_attribute("aria-live") == "polite"


def test_layers_show_truth_belief_and_their_difference(pages: Pages, tmp_path: Path) -> None:
    episode = recorded("sleep", "bline", 30)
    page = pages.open(write_page(tmp_path, episode), "t=30")
    held = [h for h, access in enumerate(episode["state"]["access"][30]) if access]
    assert page.locator(".card.tone-privileged, .card.tone-user").count() == len(held) > 3
    service = episode["network"]["service_host"]
    assert "OT stopped" in page.locator(f".card[data-host='{service}']").text_content()
    assert page.locator(".map-summary").inner_text().endswith("The operational service is down.")
    page.keyboard.press("2")
    page.locator(".map[data-layer=believed]").wait_for()
    assert page.get_by_role("button", name="Believed").get_attribute("aria-pressed") == "true"
    belief = episode["state"]["belief"][30]
    assert page.locator(".card.tone-none").count() == belief.count(0)
    page.keyboard.press("3")
    page.locator(".map[data-layer=difference]").wait_for()
    assert "foothold" in page.locator(f".card[data-host='{episode['network']['foothold']}']").text_content()
    page.get_by_role("button", name="True").click()
    page.locator(".map[data-layer=true]").wait_for()


def test_what_blue_saw_is_marked_in_its_layer(pages: Pages, record_page: Path) -> None:
    activity = recorded()["state"]["activity"]
    step = next(p for p, row in enumerate(activity) if 3 in row)
    page = pages.open(record_page, f"t={step}&layer=believed")
    card = page.locator(f".card[data-host='{activity[step].index(3)}']")
    assert "exploit seen" in card.text_content()


def test_reds_move_is_an_arrow_and_a_flag(pages: Pages, record_page: Path) -> None:
    turn = recorded()["turn"]
    caught = turn["caught"].index(1) + 1
    page = pages.open(record_page, f"t={caught}")
    assert "caught" in page.locator(".trail").get_attribute("class")
    assert page.locator(".flag.red").text_content() == "R exploit caught"
    card = page.locator(f".card[data-host='{turn['red_target'][caught - 1]}']")
    assert "caught! " in card.text_content()
    page.keyboard.press("Home")
    wait_for(page, 0)
    assert page.locator(".trail").get_attribute("visibility") == "hidden"


def test_blues_target_has_a_flag(pages: Pages, record_page: Path) -> None:
    episode = recorded()
    names = [episode["names"]["actions"][a].split(" ")[0] for a in episode["turn"]["blue_action"]]
    step = names.index("Restore") + 1
    page = pages.open(record_page, f"t={step}")
    assert page.locator(".flag.blue").text_content() == "B Restore"


def test_an_agents_words_are_shown_as_text(pages: Pages, tmp_path: Path) -> None:
    episode = deepcopy(recorded("sleep", length=3))
    page = pages.open(write_page(tmp_path, episode | {"notes": [f"{HOSTILE}\n\n→ Sleep", "", "word " * 3000]}))
    said = page.locator(".notes")
    assert said.inner_text() == "It has not chosen yet."
    for step, text in ((1, f"{HOSTILE}\n\n→ Sleep"), (2, "Nothing.")):
        page.keyboard.press("ArrowRight")
        wait_for(page, step)
        assert said.inner_text() == text
    page.keyboard.press("ArrowRight")
    wait_for(page, 3)
    assert said.evaluate("node => node.scrollHeight > node.clientHeight && node.clientHeight < 400")
    assert unnamed(page) == []


def test_the_policy_names_what_was_played(pages: Pages, record_page: Path) -> None:
    episode = recorded()
    page = pages.open(record_page, "t=20")
    played = episode["names"]["actions"][episode["turn"]["blue_action"][19]]
    assert page.locator(".policy .played .choice").inner_text() == played
    masked = episode["policy"]["masked"][19]
    assert masked
    page.locator(".policy summary").click()
    assert page.locator(".policy .masked s").all_inner_texts() == [episode["names"]["actions"][a] for a in masked]


def test_what_if_is_shown_where_there_is_one(pages: Pages, tmp_path: Path) -> None:
    episode = questioned()
    page = pages.open(write_page(tmp_path, episode), "t=1")
    panel = page.get_by_label("What if", exact=True)
    assert "Nothing was tried out" in panel.inner_text()
    panel.get_by_role("button", name="Next step with one").click()
    wait_for(page, 5)
    outcome = episode["what_if"]["steps"]["4"]
    best = episode["names"]["actions"][outcome["actions"][0]]
    assert panel.locator(".choice").first.inner_text() == best
    assert panel.locator(".played .choice").inner_text() == episode["names"]["actions"][outcome["played"]]
    panel.get_by_role("button", name="Show all 145").click()
    assert panel.locator("li").count() == 145
    regrets = {int(t) + 1: found["regret"] for t, found in episode["what_if"]["steps"].items()}
    panel.get_by_role("button", name="Largest regret").click()
    wait_for(page, max(regrets, key=regrets.__getitem__))


def test_a_workflow_shows_its_order_and_each_fix(pages: Pages, tmp_path: Path) -> None:
    order = ["op_server", "enterprise", "op_host", "user", "defender"]
    workflow = {"order": order, "fixes": [[3, "user", True], [7, "enterprise", False]], "rate": 0.5}
    page = pages.open(write_page(tmp_path, recorded() | {"workflow": workflow}))
    panel = page.get_by_label("Workflow", exact=True)
    assert panel.locator(".order li").all_inner_texts() == order
    panel.get_by_role("button", name="Step 8: fix of enterprise, breaks the order").click()
    wait_for(page, 8)
    assert "breaks the order" in panel.inner_text()
    assert panel.locator(".order .now").inner_text() == "enterprise"


def test_an_intrusion_leads_to_its_first_step(pages: Pages, record_page: Path) -> None:
    first = recorded()["metrics"]["intrusions"][3]
    page = pages.open(record_page)
    page.locator(".intrusion").nth(3).click()
    wait_for(page, first["from"])
    page.locator(".intrusions summary").click()
    page.locator(".intrusion-list button").nth(0).click()
    wait_for(page, recorded()["metrics"]["intrusions"][0]["from"])


def test_metrics_have_names(pages: Pages, record_page: Path) -> None:
    rows = pages.open(record_page).locator(".metrics dl > div").all_inner_texts()
    assert ["Exploits tried by Red", str(recorded()["metrics"]["exploits"])] in [row.split("\n") for row in rows]


def test_the_address_brings_back_the_same_view(pages: Pages, tmp_path: Path) -> None:
    file = write_page(tmp_path, recorded(), recorded("sleep", "bline", 30))
    page = pages.open(file)
    page.keyboard.press("3")
    page.keyboard.press("]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("() => location.hash === '#t=11&layer=difference&episode=2'")
    again = pages.open(file, "t=11&layer=difference&episode=2")
    assert position(again) == 11
    assert again.locator(".map").get_attribute("data-layer") == "difference"
    assert "sleep" in again.locator(".facts").inner_text()
    beyond = pages.open(file, "t=9999&layer=nonsense&episode=99")
    assert position(beyond) == 30


def test_several_episodes_are_picked_by_name(pages: Pages, tmp_path: Path) -> None:
    worst = recorded("sleep", "bline", 30) | {"label": "worst of 1,000"}
    page = pages.open(write_page(tmp_path, worst, recorded() | {"label": "best of 1,000"}), "t=25")
    picker = page.get_by_label("Episode", exact=True)
    assert [text.partition(":")[0] for text in picker.locator("option").all_inner_texts()] == [
        "worst of 1,000",
        "best of 1,000",
    ]
    picker.select_option("1")
    page.wait_for_function("() => document.querySelector('.at').textContent === '25 / 100'")
    assert recorded()["turn"]["red_text"][24] in page.locator(".spoken").inner_text()


def test_help_lists_the_keys(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    assert "first or last step" in dialog.inner_text()
    page.keyboard.press("ArrowRight")  # not behind the dialog
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert position(page) == 0


def paper(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def reload_until_remembered(page: Any, colour: str) -> None:
    """Chromium stores what a page remembers from another process: a reload at the same moment may come too early."""
    for _ in range(20):
        page.reload()
        if paper(page) == colour:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"a reloaded page has the colour {paper(page)}, not {colour}")


def test_colours_follow_the_system_until_they_are_chosen(pages: Pages, record_page: Path) -> None:
    light, dark = pages.open(record_page), pages.open(record_page, dark=True)
    assert paper(light) == "rgb(255, 255, 255)"
    assert paper(dark) == "rgb(20, 24, 28)"
    for name in ("Colours: auto", "Colours: light"):
        light.get_by_role("button", name=name).click()
    assert paper(light) == "rgb(20, 24, 28)"
    reload_until_remembered(light, "rgb(20, 24, 28)")
    light.get_by_role("button", name="Colours: dark").click()
    assert paper(light) == "rgb(255, 255, 255)"


def test_it_works_in_a_frame_that_may_keep_nothing(pages: Pages, record_page: Path, tmp_path: Path) -> None:
    from html import escape

    outer = tmp_path / "notebook.html"
    outer.write_text(
        f'<iframe srcdoc="{escape(record_page.read_text())}" sandbox="allow-scripts" width="900" height="700"></iframe>'
    )
    page = pages.open(outer)
    frame = page.frame_locator("iframe")
    frame.locator(".card").first.wait_for()
    frame.locator(".scrubber").focus()
    page.keyboard.press("ArrowRight")
    frame.get_by_text("Turn 1 of 100").wait_for()
    frame.get_by_role("button", name="Colours: auto").click()


def test_names_from_outside_show_as_text(pages: Pages, tmp_path: Path) -> None:
    episode = deepcopy(recorded("record", "meander", 12))
    episode["agent"]["name"] = episode["red"] = episode["label"] = HOSTILE
    for names in episode["names"].values():
        names[:] = [f"{HOSTILE}{name}" for name in names]
    for column in ("blue_text", "red_text", "seen_text"):
        episode["turn"][column] = [HOSTILE] * 12
    episode["workflow"] = {"order": [HOSTILE], "fixes": [[3, HOSTILE, True]], "rate": 1.0}
    page = pages.open(write_page(tmp_path, episode, episode, title=HOSTILE), "t=5")
    page.keyboard.press("End")
    wait_for(page, 12)
    assert page.title() == HOSTILE
    assert page.locator("img, b b").count() == 0
    assert HOSTILE in page.locator("h1").inner_text()
    assert HOSTILE in page.locator(".spoken").inner_text()
    assert HOSTILE in page.locator(".facts").inner_text()


def test_every_control_has_a_name(pages: Pages, tmp_path: Path) -> None:
    workflow = {"order": ["user"], "fixes": [[3, "user", True]], "rate": 1.0}
    page = pages.open(write_page(tmp_path, questioned() | {"workflow": workflow}, recorded()), "t=5")
    page.locator(".intrusions summary").click()
    assert page.locator("button").count() > 10
    assert unnamed(page) == []
    page.evaluate("document.querySelector('.icon.play').removeAttribute('aria-label')")
    assert len(unnamed(page)) == 1  # so the check can fail


def test_a_thousand_steps_are_drawn_one_by_one(pages: Pages, tmp_path: Path) -> None:
    episode = recorded("record", "meander", 1000)
    file = write_page(tmp_path, episode)
    assert file.stat().st_size < 2_000_000
    page = pages.open(file)
    page.evaluate(
        """() => {
            globalThis.seen = [];
            new MutationObserver(() => seen.push(document.querySelector(".spoken").innerText))
                .observe(document.querySelector(".at"), { childList: true, characterData: true, subtree: true });
        }"""
    )
    page.evaluate(
        """async () => {
            const range = document.querySelector(".scrubber");
            for (let step = 300; step < 500; step++) {
                range.value = String(step);
                range.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
            }
        }"""
    )
    seen = page.evaluate("seen")
    assert len(seen) == 200
    for step, said in zip(range(300, 500), seen, strict=True):
        assert episode["turn"]["red_text"][step - 1] in said
    assert "mean of" in page.locator(".reward-panel .legend").inner_text()


def test_charts_are_not_drawn_again_by_a_step(pages: Pages, record_page: Path) -> None:
    page = pages.open(record_page)
    page.evaluate(
        """() => {
            globalThis.added = 0;
            const count = (records) => (added += records.reduce((sum, record) => sum + record.addedNodes.length, 0));
            for (const chart of document.querySelectorAll(".reward, .gantt, .timeline"))
                new MutationObserver(count).observe(chart, { childList: true, subtree: true });
        }"""
    )
    for step in range(1, 6):
        page.keyboard.press("ArrowRight")
        wait_for(page, step)
    assert page.evaluate("added") == 0
