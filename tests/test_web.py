"""The tests' own web server does what the other tests rely on."""

import gzip
import http.client
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from web import Page, Web, outside, read_log


@pytest.fixture
def web():
    with Web() as web:
        yield web


def get(url, **headers):
    """Return status, headers and body."""
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def test_a_page_is_served_with_its_status_headers_and_body(web):
    url = web.host("a").add("/x", Page("grün", status=418, headers={"X-Tea": "green", "Content-Type": "text/tea"}))

    status, headers, body = get(url)

    assert (status, headers["X-Tea"], headers["Content-Type"], body) == (418, "green", "text/tea", "grün".encode())


def test_unknown_paths_are_404_until_a_page_for_the_rest_is_added(web):
    host = web.host("a")

    assert get(host.at("/nowhere"))[0] == 404

    host.add("*", Page("<html>", status=200))
    assert get(host.at("/nowhere"))[0] == 200


def test_a_query_finds_its_own_page_first_and_the_bare_path_second(web):
    host = web.host("a")
    host.add("/x", "bare")
    host.add("/x?page=2", "second")

    assert [get(host.at(path))[2] for path in ("/x", "/x?page=2", "/x?page=3")] == [b"bare", b"second", b"bare"]
    assert [fetch.path for fetch in host.log] == ["/x", "/x?page=2", "/x?page=3"]


def test_pages_are_served_one_after_another_and_the_last_again(web):
    url = web.host("a").add("/x", Page(times=[Page(status=503, headers={"Retry-After": "1"}), Page("ok")]))

    assert [get(url)[0] for _ in range(3)] == [503, 200, 200]


def test_a_sitemap_and_an_index_are_well_formed_and_absolute(web):
    host = web.host("a")
    sitemap = host.sitemap("/s.xml.gz", ["/a?b=1&c=2", {"loc": "http://b.test/", "lastmod": "2026-01-01"}], gz=True)
    index = host.index("/i.xml", [sitemap, "/t.xml"])

    urls = gzip.decompress(get(sitemap)[2]).decode()
    children = get(index)[2].decode()

    assert f"<url><loc>{host.url}/a?b=1&amp;c=2</loc></url>" in urls
    assert "<url><loc>http://b.test/</loc><lastmod>2026-01-01</lastmod></url>" in urls
    assert f"<sitemap><loc>{host.url}/s.xml.gz</loc></sitemap>\n<sitemap><loc>{host.url}/t.xml</loc>" in children


def test_every_fetch_is_logged_with_the_moment_its_request_line_arrived(web):
    host = web.host("a")
    url = host.add("/x", Page("late", delay=0.2))
    moments = []

    for _ in range(2):
        moments.append(time.monotonic())
        get(url, User_Agent="test")

    first, second = host.log
    assert (first.method, first.path, first.status, first.headers["user-agent"]) == ("GET", "/x", 200, "test")
    assert second.t - first.t >= 0.2
    assert all(0 <= fetch.t - moment < 0.1 for fetch, moment in zip(host.log, moments, strict=True))
    assert web.log == host.log


def test_a_connection_is_kept_for_the_next_request_and_head_has_no_body(web):
    host = web.host("a")
    host.add("/x", "body")
    connection = http.client.HTTPConnection("127.0.0.1", host.port, timeout=5)

    answers = []
    for method in ("GET", "HEAD", "GET"):
        connection.request(method, "/x")
        answer = connection.getresponse()
        answers.append((answer.headers["Content-Length"], answer.read(), connection.sock.getsockname()[1]))
    connection.close()

    assert [body for _, body, _ in answers] == [b"body", b"", b"body"]
    assert {length for length, _, _ in answers} == {"4"}
    assert len({port for _, _, port in answers}) == 1


def test_a_page_with_an_etag_answers_304_to_who_has_it(web):
    url = web.host("a").add("/x", Page("body", etag='"1"'))

    assert get(url)[1]["ETag"] == '"1"'
    assert get(url, If_None_Match='"1"')[::2] == (304, b"")
    assert get(url, If_None_Match='"0"')[::2] == (200, b"body")
    assert [fetch.status for fetch in web.log] == [200, 304, 200]


def test_a_hanging_page_never_answers_and_holds_up_nobody(web):
    host = web.host("a")
    hanging, fine = host.add("/hang", Page(hang=True)), host.add("/fine", "ok")

    with pytest.raises(TimeoutError):
        urllib.request.urlopen(hanging, timeout=0.2)

    assert get(fine)[0] == 200
    assert [fetch.status for fetch in host.log] == [0, 200]


def test_a_closing_page_drops_the_connection_at_once_or_half_way(web):
    host = web.host("a")

    with pytest.raises(http.client.RemoteDisconnected):
        get(host.add("/nothing", Page(close=True)))
    with pytest.raises(http.client.IncompleteRead) as half:
        get(host.add("/half", Page("12345678", close=True)))

    assert half.value.partial == b"1234"


def test_a_dead_host_refuses_connections_and_drops_those_it_has(web):
    host = web.host("a")
    url = host.add("/hang", Page(hang=True))
    ends = []
    client = threading.Thread(target=lambda: ends.append(socket_end(host.port)))
    client.start()
    while not host.log:
        time.sleep(0.01)

    host.dead()

    client.join(5)
    assert ends == ["gone"]
    with pytest.raises(urllib.error.URLError, match="refused"):
        get(url)


def socket_end(port):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(b"GET /hang HTTP/1.1\r\n\r\n")
        try:
            return "answered" if client.recv(1) else "gone"
        except ConnectionResetError:
            return "gone"


def test_what_is_not_http_is_dropped_and_harms_nobody(web):
    host = web.host("a")

    with socket.create_connection(("127.0.0.1", host.port), timeout=5) as client:
        client.sendall(b"\x16\x03\x01\x00\r\n\r\n")
        assert client.recv(1) == b""

    assert get(host.add("/x", "ok"))[0] == 200


def test_two_hundred_hosts_cost_one_thread_and_next_to_no_time(web):
    threads = threading.active_count()
    started = time.monotonic()

    urls = [web.host(f"h{n}").add("/x", Page(str(n), delay=0.2)) for n in range(200)]
    assert time.monotonic() - started < 2
    assert threading.active_count() == threads

    with ThreadPoolExecutor(200) as pool:
        bodies = [body for _, _, body in pool.map(get, urls)]
    assert bodies == [str(n).encode() for n in range(200)]
    assert time.monotonic() - started < 5


def test_a_description_is_served_by_a_process_of_its_own_with_its_log(tmp_path):
    site = {
        "a": {"pages": {"/x": "plain", "/y": {"body": "packed", "gz": True, "times": []}}},
        "b": {"dead": True},
    }

    with outside(site, tmp_path) as urls:
        assert get(f"{urls['a']}/x")[2] == b"plain"
        assert gzip.decompress(get(f"{urls['a']}/y")[2]) == b"packed"
        with pytest.raises(urllib.error.URLError, match="refused"):
            get(urls["b"])

    log = read_log(tmp_path / "fetches.jsonl")
    assert [(fetch.host, fetch.path, fetch.status) for fetch in log] == [("a", "/x", 200), ("a", "/y", 200)]
    assert 0 < time.monotonic() - log[0].t < 60
