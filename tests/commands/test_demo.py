"""``scrapy demo``, as a newcomer runs it."""

import time


def test_the_demo_shows_what_was_found_ranked_refused_and_why(project):
    del project.environment["SITEMAPCRAWL_STORE_DIR"]
    project.options = {}
    started = time.monotonic()

    done = project.run("demo")

    assert 0 == done.returncode, done.stderr
    assert time.monotonic() - started < 15
    said = done.stdout + done.stderr
    for words in (
        "Invalid",
        "115 listed",
        "blacklisted: sells nothing",
        "loop",
        "truncated",
        "503",
        "What to try next",
    ):
        assert words in said
