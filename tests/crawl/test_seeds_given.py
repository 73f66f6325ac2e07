"""Where seeds come from, what is wrong with bad ones, and which exit code and sentence a user gets."""

import contextlib
import json
import time

import pytest
import redis
from web import Page

from sitemapcrawl.keeper import Hold

JSONL = ("-o", "-:jsonl")


@pytest.fixture
def project(project):
    """The project with its embedded store kept up between commands, which spares each of them a start and a stop."""
    hold = Hold(project.store_dir)
    yield project
    hold.release()
    while hold.socket.exists():  # the server leaves before its folder does
        time.sleep(0.01)


@pytest.fixture
def client(project):
    with redis.Redis(unix_socket_path=str(project.store_dir / "valkey.sock"), decode_responses=True) as client:
        yield client


@pytest.fixture
def shops(web):
    """Three hosts with one page each, called after them."""
    hosts = [web.host(name) for name in ("one", "two", "three")]
    for host in hosts:
        host.robots("Sitemap: /sitemap.xml")
        host.sitemap("/sitemap.xml", [f"/{host.name}"])
    return hosts


def listed(crawl):
    """Return the last part of each URL of a crawl with ``-o -:jsonl``, sorted."""
    assert crawl.returncode == 0, crawl.stderr
    return sorted(json.loads(line)["url"].rpartition("/")[2] for line in crawl.stdout.splitlines())


def wait_until(holds, seconds=15):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.05)


# Where they come from


def test_seeds_in_a_file_are_read_and_bad_lines_are_reported_by_number_and_stop_nothing(shops, project, tmp_path):
    one, two, three = shops
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(
        f"# my sites\n\n* {one.url}\t# a bullet, a tab, a comment\nftp://example.org/\n{two.url}/ sitemaps: sitemap.xml\n"
        f"{three.url}/sitemap.xml -sitemap\n{one.url} scor=2\nno_such_file.txt\n{one.url} score=none\n"
    )

    crawl = project.crawl(seeds, *JSONL, "-L", "DEBUG")

    assert ["one", "three", "two"] == listed(crawl)
    assert "seeds.txt:4: Invalid: ftp://example.org/ (not an http or https URL)" in crawl.stderr
    assert f"seeds.txt:7: Invalid: {one.url} scor=2 (scor=2 is not known here: did you mean score?)" in crawl.stderr
    assert "seeds.txt:8: Invalid: no_such_file.txt (" in crawl.stderr
    assert f"seeds.txt:9: Invalid: {one.url} score=none (score=none is no number above 0)" in crawl.stderr
    assert "3 valid, 4 invalid" in crawl.stderr
    for url in (f"{one.url}/robots.txt", f"{two.url}/sitemap.xml", f"{three.url}/sitemap.xml"):
        assert f"DEBUG: Scheduled: {url}\n" in crawl.stderr
    assert ["/robots.txt", "/sitemap.xml"] == [fetch.path for fetch in three.log], "a seed that is a sitemap"


def test_seeds_are_lines_themselves_or_standard_input_or_a_list_on_the_web(shops, project, web):
    one, two, three = shops
    inline = project.crawl(f"127.0.0.1:{one.port}", *JSONL)
    given = project.run("crawl", "sitemap", "-a", "seeds=-", *JSONL, input=f"{two.url}\nftp://x/\n{three.url}\n")
    lists = web.host("lists")
    lists.add("/my/list.txt", f"{one.url}\n{three.url}\n")
    fetched = project.crawl(lists.at("/my/list.txt"), *JSONL)

    assert (["one"], ["three", "two"], ["one", "three"]) == (listed(inline), listed(given), listed(fetched))
    assert "stdin:2: Invalid: ftp://x/ (not an http or https URL)" in given.stderr
    assert ["/my/list.txt"] == [fetch.path for fetch in lists.log]


@pytest.mark.parametrize(("push", "kind"), [("rpush", "list"), ("zadd", "zset")])
def test_seeds_are_taken_from_a_redis_key(shops, project, client, push, kind):
    one, two, _ = shops
    lines = [one.url, "ftp://x/", f"{two.url}/ sitemaps: sitemap.xml"]
    getattr(client, push)("my:seeds", *([dict.fromkeys(lines, 1)] if push == "zadd" else lines))
    assert kind == client.type("my:seeds")

    crawl = project.crawl("redis:my:seeds", *JSONL, timeout=30)

    assert ["one", "two"] == listed(crawl)
    assert "Invalid: ftp://x/ (not an http or https URL)" in crawl.stderr


def test_a_local_sitemap_file_is_read_by_its_path_and_by_its_file_url(project, web, tmp_path):
    shop, sitemap = web.host("shop"), tmp_path / "my sitemap.xml"
    shop.sitemap("/s.xml", ["/a", "/b"])
    sitemap.write_bytes(shop._pages["/s.xml"][0].data)

    by_path = project.crawl(sitemap, *JSONL)
    by_url = project.crawl(sitemap.as_uri(), *JSONL)
    in_a_list = tmp_path / "seeds.txt"
    in_a_list.write_text(f"{sitemap.as_uri()}\n{tmp_path.as_uri()}/missing.xml\n")
    by_line = project.crawl(in_a_list, *JSONL)

    assert [["a", "b"]] * 3 == [listed(crawl) for crawl in (by_path, by_url, by_line)]
    assert [] == shop.log
    assert "missing.xml: Invalid: can't be read (No such file or directory)" in by_line.stderr
    assert sorted(map(shop.at, ("/a", "/b"))) == sorted(project.urls())


# Seeds that others push to a running worker


def test_a_running_worker_takes_what_is_pushed_in_every_form_and_leaves_when_nothing_comes(shops, project, client, web):
    one, two, three = shops
    four = web.host("four")
    four.sitemap("/own.xml", ["/four"])
    worker = project.start("crawl", "sitemap", *JSONL, "-L", "DEBUG", MAX_IDLE_TIME_BEFORE_CLOSE=3)
    with contextlib.closing(worker.stderr):
        client.lpush("sitemap:start_urls", one.url)
        wait_until(lambda: one.log)
        wait_until(lambda: not client.exists("sitemap:start_urls"))
        client.sadd("sitemap:start_urls", f"{two.url}/ sitemaps: sitemap.xml", "ftp://bad/")
        wait_until(lambda: two.log)
        wait_until(lambda: not client.exists("sitemap:start_urls"))
        client.zadd("sitemap:start_urls", {three.url: 5})
        wait_until(lambda: three.log)
        message = {"url": four.url, "meta": {"sitemaps": ["own.xml"], "score": 2}}
        client.rpush("sitemap:start_urls", json.dumps(message))
        output, errors = worker.communicate(timeout=30)

    assert 0 == worker.returncode, errors
    assert ["four", "one", "three", "two"] == sorted(
        json.loads(x)["url"].rpartition("/")[2] for x in output.splitlines()
    )
    assert "start_urls:2: Invalid: ftp://bad/" in errors or "start_urls:1: Invalid: ftp://bad/" in errors
    assert [] == [key for key in client.scan_iter("*start_urls*") if client.type(key) != "none"]


def test_lines_pushed_during_a_run_with_seeds_of_its_own_are_crawled_in_it(shops, project, client):
    one, two, _ = shops
    one.sitemap("/sitemap.xml", ["/one"], delay=1.5)
    worker = project.start("crawl", "sitemap", "-a", f"seeds={one.url}", *JSONL, "-L", "DEBUG")
    wait_until(lambda: len(one.log) == 2)

    client.lpush("sitemap:start_urls", two.url)
    output, errors = worker.communicate(timeout=30)

    assert 0 == worker.returncode, errors
    assert ["one", "two"] == sorted(json.loads(line)["url"].rpartition("/")[2] for line in output.splitlines())
    assert f"DEBUG: Scheduled: {two.url}/robots.txt\n" in errors, "as for seeds of its own"


# Exit codes


def test_no_valid_seed_is_exit_code_2_and_nothing_discovered_is_3(project, web, tmp_path):
    empty, seeds = web.host("empty"), tmp_path / "seeds.txt"
    seeds.write_text("# nothing\nftp://x/\n")

    invalid = project.crawl(seeds, timeout=30)
    nothing = project.crawl(empty.url, *JSONL)

    assert (2, True) == (invalid.returncode, "seeds.txt:2: Invalid: ftp://x/" in invalid.stderr)
    assert "has no valid seed" in invalid.stderr
    assert (3, "") == (nothing.returncode, nothing.stdout)


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("includ=/a", "Unknown spider argument 'includ': did you mean 'include'?"),
        ("since=soon", "since=soon is no date: write 2026-01-31, 2026-01-31T12:00Z, 7d or 24h."),
    ],
)
def test_an_argument_that_can_not_be_read_is_one_sentence_and_exit_code_2(project, argument, sentence):
    crawl = project.crawl("localhost:1", "-a", argument)

    assert 2 == crawl.returncode
    assert sentence in crawl.stderr
    assert "Traceback" not in crawl.stderr


def test_scrapyds_own_argument_is_accepted(project, shops):
    assert ["one"] == listed(project.crawl(shops[0].url, *JSONL, "-a", "_job=6487ec79947edab326d6db28a2d86511e8247444"))


@pytest.mark.parametrize("address", ["redis://:secret@127.0.0.1:1/0", "redis://192.0.2.1:6379/0"])
def test_a_wrong_redis_url_is_one_sentence_and_exit_code_4_within_15_s(project, address):
    begin = time.monotonic()
    crawl = project.crawl("localhost:1", REDIS_URL=address)

    assert 4 == crawl.returncode, crawl.stderr
    assert 15 > time.monotonic() - begin
    assert ["No Redis answers at"] == [line[:19] for line in crawl.stderr.splitlines() if "Redis" in line]
    assert not {"Traceback", "secret"} & set(crawl.stderr.replace(":", " ").split())


def test_other_filters_while_a_run_is_unfinished_are_refused_and_both_are_named(shops, project):
    one = shops[0]
    one.add("/sitemap.xml", Page(times=[Page(hang=True), Page("<urlset><url><loc>/x</loc></url></urlset>")]))
    worker = project.start("crawl", "sitemap", "-a", f"seeds={one.url}", "-a", "include=/a*")
    wait_until(lambda: len(one.log) == 2)
    worker.kill()
    worker.communicate()

    refused = project.crawl(one.url, "-a", "include=/b*", "-a", "max_urls=3")

    assert 2 == refused.returncode
    assert "(-a include=/a*)" in refused.stderr
    assert "(-a include=/b* -a max_urls=3)" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert 2 == len(one.log)
