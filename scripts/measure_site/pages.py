"""Which pages are measured."""

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


def every_page() -> list[str]:
    """The address of each page, as seen from the site's root."""
    return [
        f"{path.parent.relative_to(SITE).as_posix()}/"
        for language in LANGUAGES
        for path in sorted((SITE / language).rglob("index.html"))
    ]
