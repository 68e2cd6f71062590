"""Where a browser for the tests is looked for."""

import provide_browser


def test_the_one_unpacked_into_build_is_found_where_the_machine_has_none(tmp_path, monkeypatch):
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("GRADACCUM_BROWSER", raising=False)
    monkeypatch.setattr(provide_browser, "MAC_PATHS", ())
    monkeypatch.setattr(provide_browser, "UNPACKED", tmp_path)
    monkeypatch.setattr(provide_browser, "downloaded", lambda: None)
    assert provide_browser.find_browser() is None
    browser.chmod(0o755)
    assert provide_browser.find_browser() == str(browser)
