"""What ``scrapy crawl`` refuses before anything is started: one sentence, exit code 2."""

import pytest


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (("-a", "inlcude=/x"), {}, "did you mean 'include'?"),
        (("-a", "since=tomorrow"), {}, "since=tomorrow is no date"),
        (("-a", "max_urls=many"), {}, "max_urls=many is no whole number"),
        (("-a", "seeds="), {}, "seeds= is empty"),
        ((), {"SITEMAPCRAWL_LEASE_SECONDS": "abc"}, "SITEMAPCRAWL_LEASE_SECONDS=abc is no number"),
        ((), {"SITEMAPCRAWL_HOST_DELAY_SECOND": 1}, "did you mean SITEMAPCRAWL_HOST_DELAY_SECONDS?"),
        ((), {"REDIS_URL": "foo"}, "REDIS_URL=foo"),
        ((), {"SITEMAPCRAWL_CROSS_SUBMIT": "everywhere"}, "SITEMAPCRAWL_CROSS_SUBMIT=everywhere"),
        (
            (),
            {"SITEMAPCRAWL_BLACKLIST_FILE": "/no/such/file"},
            "SITEMAPCRAWL_BLACKLIST_FILE=/no/such/file can't be read",
        ),
        ((), {"SITEMAPCRAWL_FILTERS": '{"no.such.Filter": 1}'}, "SITEMAPCRAWL_FILTERS names no.such.Filter"),
    ],
)
def test_what_can_not_work_is_refused_in_one_sentence(project, words, options, said):
    done = project.crawl("example.com", *words, **options)

    assert (2, "") == (done.returncode, done.stdout), done.stderr
    assert said in done.stderr
    assert 1 == len(done.stderr.splitlines()), done.stderr


def test_a_spider_that_does_not_exist_is_named_with_the_one_that_does(project):
    done = project.run("crawl", "sitemaps")

    assert (2, "There is no spider named sitemaps: did you mean sitemap?\n") == (done.returncode, done.stderr)
