"""The table of outcomes: what a status or an error means, when the next attempt is, and what a host asks for."""

import asyncio
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from OpenSSL import SSL
from scrapy import exceptions as scrapy_errors
from service_identity.exceptions import CertificateError, VerificationError
from twisted.internet import defer, error
from twisted.python.failure import Failure
from twisted.web.client import RequestNotSent, RequestTransmissionFailed, ResponseFailed, ResponseNeverReceived
from twisted.web.error import InfiniteRedirection, SchemeNotSupported

from sitemapcrawl import outcomes
from sitemapcrawl.outcomes import LONGEST_DELAY_SECONDS, Decision, Outcome

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
DAY = 86_400


def decide(status=None, error=None, attempt=1, **changed):
    policy = {"retry_after": None, "max_attempts": 5, "backoff_seconds": 60.0, "jitter": 0.0}
    return outcomes.decide(status, error, attempt, **(policy | changed))


# Statuses


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((200, 203, 204, 206), Outcome.OK),
        ((304,), Outcome.UNCHANGED),
        ((404, 410), Outcome.GONE),
        ((401, 403, 407, 451), Outcome.BLOCKED),
        ((408, 425, 429, 500, 502, 503, 504, 520, 599, 999), Outcome.RETRY),
        ((100, 300, 301, 400, 402, 405, 406, 409, 413, 418, 431), Outcome.DEAD),
    ],
    ids=["ok", "unchanged", "gone", "blocked", "retry", "dead"],
)
def test_each_status_has_its_outcome(statuses, expected):
    assert dict.fromkeys(statuses, expected) == {status: decide(status).outcome for status in statuses}


def test_the_reason_names_the_status():
    assert Decision(Outcome.BLOCKED, "status 403") == decide(403)


@pytest.mark.parametrize(
    ("status", "expected"), [(429, True), (503, True), (500, False), (504, False), (408, False), (404, False)]
)
def test_too_many_requests_and_unavailable_block_the_whole_host(status, expected):
    assert expected == decide(status).host_block


# Errors


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, Outcome.RETRY) for name in ("timeout", "dns", "connection-refused", "connection-lost", "tls")),
        *((name, Outcome.RETRY) for name in ("connection-failed", "bad-response", "cancelled", "callback-error")),
        *((name, Outcome.DEAD) for name in ("too-big", "too-many-redirects", "unsupported-url")),
        *((name, Outcome.DEAD) for name in ("item-dropped", "stopped")),
        *((name, Outcome.BLOCKED) for name in ("robots", "blacklisted", "private-address", "ignored")),
    ],
)
def test_each_error_has_its_outcome(name, expected):
    assert expected == decide(error=name).outcome


@pytest.mark.parametrize(
    ("name", "expected"),
    [("dns", "host name not found"), ("NoSuchThing", "NoSuchThing"), ("", "unknown error"), (None, "unknown error")],
)
def test_an_error_is_told_in_words_and_an_unknown_one_by_its_name_and_tried_again(name, expected):
    assert Decision(Outcome.RETRY, expected, 60.0) == decide(error=name)


def test_an_answer_counts_more_than_an_error():
    assert Outcome.GONE == decide(404, "timeout").outcome


# Delays


@pytest.mark.parametrize(
    ("attempt", "changed", "expected"),
    [
        (1, {}, 60),
        (2, {}, 120),
        (4, {}, 480),
        (4, {"backoff_seconds": 1}, 8),
        (1, {"jitter": 1.0}, 66),
        (1, {"jitter": 0.5}, 63),
        (3, {"retry_after": 7.0}, 7),
        (3, {"retry_after": 0.0}, 0),
        (3, {"retry_after": 7.0, "jitter": 1.0}, 7.7),
        (3, {"retry_after": 10.0 * DAY}, DAY),
        (20, {"max_attempts": 99}, DAY),
        (5_000, {"max_attempts": 9_999}, DAY),
        (20, {"max_attempts": 99, "jitter": 1.0}, DAY),
    ],
    ids=[
        *("first", "doubles", "doubles again", "from the setting", "jitter", "half the jitter", "the host's wish"),
        *("at once", "jitter on a wish", "a wish for more than a day", "a day at most", "many attempts"),
        "a day with jitter",
    ],
)
def test_a_retry_waits_as_long_as_the_host_asks_or_twice_as_long_each_time(attempt, changed, expected):
    assert pytest.approx(expected) == decide(503, attempt=attempt, **changed).delay_seconds


@pytest.mark.parametrize(("attempt", "expected"), [(4, Outcome.RETRY), (5, Outcome.DEAD), (6, Outcome.DEAD)])
def test_the_last_attempt_that_fails_is_dead_with_its_reason_and_blocks_nobody(attempt, expected):
    decision = decide(503, attempt=attempt)

    assert (expected, "status 503") == (decision.outcome, decision.reason)
    assert (expected == Outcome.RETRY) == decision.host_block


@given(
    status=st.none() | st.integers(0, 999),
    error=st.none() | st.sampled_from(["timeout", "dns", "robots", "x"]),
    attempt=st.integers(1, 10**6),
    retry_after=st.none() | st.floats(0, 1e9),
    backoff=st.floats(0, 1e6),
    jitter=st.floats(0, 1),
)
def test_only_a_retry_waits_and_never_longer_than_a_day(status, error, attempt, retry_after, backoff, jitter):
    decision = decide(
        status, error, attempt, retry_after=retry_after, backoff_seconds=backoff, jitter=jitter, max_attempts=10**5
    )

    if decision.outcome == Outcome.RETRY:
        assert 0 <= decision.delay_seconds <= LONGEST_DELAY_SECONDS
    else:
        assert (None, False) == (decision.delay_seconds, decision.host_block)


# Exceptions


def wrapped(*reasons, by=ResponseNeverReceived):
    """Return what Scrapy 2.19 makes of a failure that Twisted reports as a list of reasons."""
    found = scrapy_errors.DownloadFailedError()
    found.__cause__ = by([Failure(reason) for reason in reasons])
    return found


def ignored(message):
    return scrapy_errors.IgnoreRequest(message)


class ParseError(Exception):
    """Of the same name as Twisted's, which is private."""


class MyTimeout(scrapy_errors.DownloadTimeoutError):
    pass


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (scrapy_errors.DownloadTimeoutError(), "timeout"),
        (scrapy_errors.CannotResolveHostError(), "dns"),
        (scrapy_errors.DownloadConnectionRefusedError(), "connection-refused"),
        (scrapy_errors.DownloadFailedError(), "connection-failed"),
        (scrapy_errors.ResponseDataLossError(), "connection-lost"),
        (scrapy_errors.UnsupportedURLSchemeError(), "unsupported-url"),
        (scrapy_errors.NotSupported(), "unsupported-url"),
        (scrapy_errors.DownloadCancelledError("is larger than download max size (5)"), "too-big"),
        (scrapy_errors.DownloadCancelledError(), "cancelled"),
        (ignored("max redirections reached"), "too-many-redirects"),
        (ignored("because"), "ignored"),
        (scrapy_errors.StopDownload(), "stopped"),
        (scrapy_errors.DropItem("because"), "item-dropped"),
        (error.TimeoutError(), "timeout"),
        (error.TCPTimedOutError(), "timeout"),
        (error.DNSLookupError(), "dns"),
        (error.UnknownHostError(), "dns"),
        (error.ConnectionRefusedError(), "connection-refused"),
        (error.NoRouteError(), "connection-failed"),
        (error.ConnectionLost(), "connection-lost"),
        (error.ConnectionDone(), "connection-lost"),
        (error.ConnectionAborted(), "connection-lost"),
        (error.ConnectionClosed(), "connection-lost"),
        (error.ConnectingCancelledError(None), "cancelled"),
        (error.SSLError(), "tls"),
        (error.PeerVerifyError(), "tls"),
        (error.CertificateError(), "tls"),
        (CertificateError(), "tls"),
        (VerificationError(errors=[]), "tls"),
        (SchemeNotSupported(), "unsupported-url"),
        (InfiniteRedirection(b"302"), "too-many-redirects"),
        (RequestNotSent(), "connection-lost"),
        (RequestTransmissionFailed([]), "connection-lost"),
        (ResponseFailed([]), "connection-lost"),
        (defer.CancelledError(), "cancelled"),
        (asyncio.CancelledError(), "cancelled"),
        (UnicodeError("label too long"), "unsupported-url"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), "UnicodeDecodeError"),
        (TimeoutError(), "timeout"),
        (socket.gaierror(), "dns"),
        (ConnectionRefusedError(), "connection-refused"),
        (ConnectionResetError(), "connection-lost"),
        (BrokenPipeError(), "connection-lost"),
        (ssl.SSLCertVerificationError(), "tls"),
        (SSL.Error(), "tls"),
        (PermissionError(), "connection-failed"),
        (MyTimeout(), "timeout"),
        (ValueError("x"), "ValueError"),
    ],
    ids=lambda value: f"{type(value).__module__}.{type(value).__name__}" if isinstance(value, BaseException) else value,
)
def test_an_exception_is_named_by_its_class_or_the_nearest_base_that_is_known(found, expected):
    assert expected == outcomes.classify_exception(found)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (wrapped(error.ConnectionDone()), "connection-lost"),
        (wrapped(SSL.Error()), "tls"),
        (wrapped(ParseError(), by=ResponseFailed), "bad-response"),
        (wrapped(error.ConnectionRefusedError()), "connection-refused"),
        (wrapped(ValueError()), "connection-lost"),
        (wrapped(), "connection-lost"),
        (ResponseNeverReceived([Failure(SSL.Error())]), "tls"),
    ],
    ids=["closed", "TLS", "not HTTP", "refused", "unknown within", "nothing within", "Twisted's alone"],
)
def test_what_scrapy_and_twisted_wrapped_is_looked_into(found, expected):
    assert expected == outcomes.classify_exception(found)


def test_every_exception_of_scrapy_has_a_name_or_ends_no_download():
    ends_no_download = {"NotConfigured", "_InvalidOutput", "DontCloseSpider", "CloseSpider", "UsageError"}
    ends_no_download |= {"ScrapyDeprecationWarning", "ContractFail"}
    classes = {
        name: found
        for name, found in vars(scrapy_errors).items()
        if isinstance(found, type) and found.__module__ == scrapy_errors.__name__
    }

    unnamed = {name for name, found in classes.items() if outcomes.classify_exception(found.__new__(found)) == name}

    assert ends_no_download == unnamed


def test_a_cause_of_what_is_no_wrapper_does_not_count():
    found = scrapy_errors.DownloadTimeoutError()
    found.__cause__ = defer.CancelledError()

    assert "timeout" == outcomes.classify_exception(found)


def test_wrappers_in_a_circle_end():
    found = scrapy_errors.DownloadFailedError()
    found.__cause__ = found

    assert "connection-failed" == outcomes.classify_exception(found)


def test_every_name_an_exception_can_get_is_in_the_table():
    given_by_class = {*outcomes._BY_CLASS.values(), *(name for *_, name in outcomes._BY_MESSAGE)}

    assert set() == given_by_class - set(outcomes._BY_ERROR)


# Retry-After (RFC 9110, 10.2.3)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("0", 0),
        ("9" * 5_000, DAY),
        ("Tue, 01 Dec 2026 12:01:00 GMT", 60),
        ("Tuesday, 01-Dec-26 12:01:00 GMT", 60),
        ("Tue Dec  1 12:01:00 2026", 60),
        ("Tue, 01 Dec 2026 13:01:00 +0100", 60),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Tue, 01 Dec 2099 12:00:00 GMT", DAY),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("\u0663", None),
        ("soon", None),
        ("Tue, 99 Dec 2026 12:01:00 GMT", None),
        ("Tue, 01 Dec 99999 12:01:00 GMT", None),
    ],
    ids=[
        *("seconds", "blanks", "none", "more than a day", "date", "RFC 850 date", "asctime date", "zone", "past"),
        *("far future", "empty", "negative", "fraction", "foreign digit", "a word", "no such day", "no such year"),
    ],
)
def test_retry_after_is_read_in_both_forms(value, expected):
    assert expected == outcomes.retry_after(value, NOW)


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{1,5} \d\d:\d\d:\d\d [-+]\d{4}", fullmatch=True))
def test_no_retry_after_raises_or_asks_for_more_than_a_day(value):
    found = outcomes.retry_after(value, NOW)

    assert found is None or 0 <= found <= LONGEST_DELAY_SECONDS


@given(st.integers(0, DAY))
def test_both_forms_of_retry_after_mean_the_same(seconds):
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)

    assert outcomes.retry_after(str(seconds), NOW) == outcomes.retry_after(date, NOW)
