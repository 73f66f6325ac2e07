"""``scrapy read`` as a user runs it: in a process of its own."""

import gzip
import json
import subprocess
import sys
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "cases"
INDEX = b"<sitemapindex><sitemap><loc>/a.xml</loc><lastmod>2024-03</lastmod></sitemap></sitemapindex>"


def scrapy_read(*args, **kwargs):
    command = [sys.executable, "-m", "scrapy", "read", *map(str, args)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False, **kwargs)


def lines(run):
    return [json.loads(line) for line in run.stdout.splitlines()]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path == "/sitemap.xml"
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(gzip.compress(INDEX) if found else b"gone")

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def base():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_jsonl_has_a_line_for_each_entry_and_problem_and_the_summary_last():
    run = scrapy_read(CASES / "S57.xml", "--url", "https://www.example.com/sitemap.xml", "--format", "jsonl")

    found = lines(run)
    assert {"type": "entry", "loc": "https://www.example.com/p/v0", "changefreq": "daily", "priority": 0.8} == found[0]
    assert ["invalid-priority", "invalid-changefreq"] == [line["code"] for line in found if line["type"] == "problem"]
    assert {
        "type": "summary",
        "url": "https://www.example.com/sitemap.xml",
        "kind": "urlset",
        "verdict": "ok",
        "entries": 9,
        "sitemaps": 0,
        "bytes": 1075,
    } == found[-1]
    assert (0, b"") == (run.returncode, run.stderr)


def test_a_url_is_fetched_and_relative_urls_are_of_its_host(base):
    run = scrapy_read(f"{base}/sitemap.xml", "--format", "jsonl")

    assert {"type": "sitemap", "loc": f"{base}/a.xml", "lastmod": "2024-03"} == lines(run)[0]
    assert 0 == run.returncode


def test_a_url_that_answers_an_error_is_told_in_one_sentence(base):
    run = scrapy_read(f"{base}/nope.xml")

    assert (1, b"") == (run.returncode, run.stdout)
    assert f"{base}/nope.xml answers 404 Not Found.\n" == run.stderr.decode()


def test_standard_input_is_read():
    run = scrapy_read("-", "--url", "https://example.com/", "--format", "jsonl", input=INDEX)

    assert "https://example.com/a.xml" == lines(run)[0]["loc"]


def test_robots_txt_lists_its_sitemaps_by_name_or_by_content():
    named = scrapy_read(CASES / "S80.robots.txt", "--url", "https://www.example.com/x", "--format", "jsonl")
    piped = scrapy_read("-", "--format", "jsonl", input=b"# hello\nUser-agent: *\nSitemap: https://example.com/a.xml\n")

    assert ["sitemap", "sitemap", "summary"] == [line["type"] for line in lines(named)]
    assert "https://example.com/a.xml" == lines(piped)[0]["loc"]
    assert ["robots", "robots"] == [lines(run)[-1]["kind"] for run in (named, piped)]


def test_the_table_fits_a_terminal_and_shows_what_is_wrong():
    run = scrapy_read(CASES / "S57.xml")

    text = run.stdout.decode()
    assert max(map(len, text.splitlines()[1:])) <= 100
    assert "urlset: ok · 9 entries · 1,075 bytes" in text
    assert "https://www.example.com/p/v0" in text
    assert "invalid-priority" in text


def test_the_table_shows_the_first_rows_of_a_long_file_and_counts_the_rest():
    run = scrapy_read("-", input=b"\n".join(b"https://example.com/%d" % i for i in range(100)))

    assert b"... and 80 more" in run.stdout
    assert b"https://example.com/19\n" in run.stdout
    assert b"https://example.com/20\n" not in run.stdout


def test_nothing_readable_exits_1_and_still_says_what_it_was():
    run = scrapy_read("-", "--format", "jsonl", input=b"<!doctype html><title>Not found</title>")

    assert 1 == run.returncode
    assert ["problem", "summary"] == [line["type"] for line in lines(run)]
    assert "html" == lines(run)[-1]["verdict"]


def test_a_file_that_is_not_there_exits_2_with_one_sentence():
    run = scrapy_read("no-such-file.xml")

    assert (2, b"", b"There is no file no-such-file.xml.\n") == (run.returncode, run.stdout, run.stderr)


def test_a_folder_exits_2_with_one_sentence(tmp_path):
    run = scrapy_read(tmp_path)

    assert (2, b"") == (run.returncode, run.stdout)
    assert f"{tmp_path} can't be read: Is a directory.\n" == run.stderr.decode()


def test_no_file_at_all_is_a_usage_error():
    run = scrapy_read()

    assert 2 == run.returncode
    assert b"one file, URL or -" in run.stderr


def test_a_reader_that_leaves_early_is_no_failure(tmp_path):
    path = tmp_path / "sitemap.txt"
    path.write_text("\n".join(f"https://example.com/{i}" for i in range(50_000)))

    command = f"{sys.executable} -m scrapy read {path} --format jsonl | head -1"
    run = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, timeout=60, check=False)

    assert "https://example.com/0" == lines(run)[0]["loc"]
    assert b"" == run.stderr
