"""Stepping through one accumulation window."""

import json
import re

import pytest
from playwright.sync_api import expect

BEAT = 1100
CODE = {"zero_grad": "zero_grad(", "forward": "model(", "backward": ".backward()", "update": "optimizer.step()"}


class Stepper:
    def __init__(self, page):
        self.page = page
        self.figure = page.locator(".ga-picture:has(.ga-stepper)").first
        self.segments = json.loads(self.figure.locator(".ga-data").text_content())["segments"]

    def press(self, action):
        self.figure.locator(f"[data-action={action}]").click()

    def stands_at(self, index):
        segment = self.segments[index]
        expect(self.figure.locator(".ga-phase-name")).to_have_text(segment["label"])
        expect(self.figure.locator(".ga-lit")).to_have_count(1)
        expect(self.figure.locator(".ga-lit")).to_contain_text(CODE[segment["line"]])
        marks = self.figure.locator("svg:visible .ga-segments rect")
        expect(marks.nth(index)).to_have_class(re.compile("ga-current"))
        expect(self.figure.locator("svg:visible .ga-segments .ga-current")).to_have_count(1)


@pytest.fixture
def stepper(open_page, language):
    return Stepper(open_page(f"{language}/"))


def test_steps_through_the_whole_window_without_python(stepper):
    expect(stepper.figure.locator(".ga-lit")).to_have_count(0)
    for index in range(len(stepper.segments)):
        stepper.press("next")
        stepper.stands_at(index)
    phases = [segment["phase"] for segment in stepper.segments]
    assert {"forward", "backward", "skipped", "update"} <= set(phases)
    stepper.press("previous")
    stepper.stands_at(len(stepper.segments) - 2)
    stepper.press("first")
    stepper.stands_at(0)
    stepper.press("previous")
    stepper.stands_at(0)
    assert stepper.page.guard.of_pyodide() == []


def test_keyboard_follows_the_time_axis(stepper):
    stepper.figure.locator("[data-action=next]").focus()
    keys = stepper.page.keyboard
    keys.press("Enter")
    stepper.stands_at(0)
    keys.press("ArrowRight")
    stepper.stands_at(1)
    keys.press("ArrowLeft")
    stepper.stands_at(0)


def test_play_runs_and_pauses(stepper, language, words):
    """By the page's own clock, which stands still while the test looks."""
    clock = stepper.page.clock
    clock.install(time=0)
    clock.pause_at(1000)
    stepper.press("play")
    stepper.stands_at(0)
    play = stepper.figure.locator("[data-action=play]")
    expect(play).to_have_text(words[language]["ui.pause"])
    clock.run_for(BEAT)
    stepper.stands_at(1)
    stepper.press("play")
    expect(play).to_have_text(words[language]["ui.play"])
    clock.run_for(3 * BEAT)
    stepper.stands_at(1)


def test_nothing_moves_for_readers_who_asked_for_no_motion(open_page, language):
    stepper = Stepper(open_page(f"{language}/", reduced_motion="reduce"))
    expect(stepper.figure.locator("[data-action=play]")).to_be_hidden()
    stepper.press("next")
    stepper.stands_at(0)
    assert (
        stepper.page.evaluate("document.getAnimations().filter((one) => one.effect.target.closest?.('.ga-picture')).length")
        == 0
    )


def test_phase_is_announced_politely(stepper):
    stepper.press("next")
    expect(stepper.figure.locator(".ga-phase-name")).to_have_attribute("role", "status")


def test_cursor_stays_when_the_picture_is_drawn_anew(live, until):
    stepper = Stepper(live.page)
    stepper.press("first")
    stepper.press("next")
    live.type("accumulation_steps", "2")
    live.shows(effective_batch="8")
    until(
        live.page,
        "JSON.parse(document.querySelector('.ga-picture:has(.ga-stepper) .ga-data').textContent).segments.length === 6",
    )
    expect(stepper.figure.locator("svg:visible .ga-segments rect")).to_have_count(6)
    Stepper(live.page).stands_at(1)
