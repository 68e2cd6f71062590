"""Which pages are measured, and over which lines."""

from paths import SITE

LANGUAGES = ("ar", "en")
# One page of each kind; its name is a key of words in docs/data/site.
KINDS = {
    "home": "",
    "learn": "learn/memory/",
    "calculator": "calculators/training-memory/",
    "pitfall": "learn/pitfalls/token-normalisation/",
    "evidence": "evidence/accuracy/",
    "faq": "learn/faq/",
    "quiz": "learn/quiz/",
}
# Bits a second and milliseconds of delay, as browsers' own tools name such lines.
LINES = {
    "slow_4g": (1_600_000, 150),
    "fast_4g": (9_000_000, 60),
    "cable": (50_000_000, 10),
    "unthrottled": (0, 0),
}

# What a reader's browser has kept when a page is opened: nothing, Pyodide's files, and the memory of a start too.
VISITS = ("first", "files", "memory")

# A reader who saves data: nothing is fetched unasked.
SAVING = "Object.defineProperty(navigator, 'connection', {get: () => ({saveData: true, effectiveType: '4g', downlink: 10})})"


def every_page() -> list[str]:
    """The address of each page, as seen from the site's root."""
    return [
        f"{path.parent.relative_to(SITE).as_posix()}/"
        for language in LANGUAGES
        for path in sorted((SITE / language).rglob("index.html"))
    ]
