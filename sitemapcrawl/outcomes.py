"""What a claim's end means: the table of outcomes.

Knows status codes, names of errors and the back-off. Refuses to know the clock, randomness (``jitter`` is given) and
what the frontier does with a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

#: No host is left alone for longer, whatever it asks for.
LONGEST_DELAY_SECONDS = 86_400.0
_JITTER_SHARE = 0.1
#: Doublings after which any back-off is longer than a day; more would only overflow.
_MOST_DOUBLINGS = 20


class Outcome(StrEnum):
    """How a claim ends."""

    OK = "ok"
    UNCHANGED = "unchanged"
    REDIRECT = "redirect"
    RETRY = "retry"  #: it comes back after a delay
    GONE = "gone"  #: the host says that there is nothing
    DEAD = "dead"  #: given up after the last attempt, or because another one can't help
    BLOCKED = "blocked"  #: we may not have it


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a claim."""

    outcome: Outcome
    reason: str
    delay_seconds: float | None = None  #: before the next attempt
    host_block: bool = False  #: the host is left alone for the delay, not only the request


_SECONDS = re.compile(r"\d+", re.ASCII)

_BY_STATUS = {
    304: Outcome.UNCHANGED,
    401: Outcome.BLOCKED,
    403: Outcome.BLOCKED,
    404: Outcome.GONE,
    407: Outcome.BLOCKED,
    408: Outcome.RETRY,
    410: Outcome.GONE,
    425: Outcome.RETRY,
    429: Outcome.RETRY,
    451: Outcome.BLOCKED,
}
#: Statuses by which a host asks to be left alone (RFC 6585, RFC 9110).
_BLOCKS_HOST = (429, 503)

#: Error names, as ``classify_exception`` and the spider give them, to outcome and words.
_BY_ERROR = {
    "timeout": (Outcome.RETRY, "timed out"),
    "dns": (Outcome.RETRY, "host name not found"),
    "connection-refused": (Outcome.RETRY, "connection refused"),
    "connection-lost": (Outcome.RETRY, "connection lost"),
    "connection-failed": (Outcome.RETRY, "connection failed"),
    "tls": (Outcome.RETRY, "TLS failed"),
    "bad-response": (Outcome.RETRY, "not HTTP"),
    "cancelled": (Outcome.RETRY, "cancelled"),
    "too-big": (Outcome.DEAD, "too big"),
    "too-many-redirects": (Outcome.DEAD, "too many redirects"),
    "unsupported-url": (Outcome.DEAD, "unsupported URL"),
    "robots": (Outcome.BLOCKED, "disallowed by robots.txt"),
    "blacklisted": (Outcome.BLOCKED, "blacklisted"),
    "private-address": (Outcome.BLOCKED, "private address"),
    "ignored": (Outcome.BLOCKED, "ignored by a middleware"),
    "callback-error": (Outcome.RETRY, "error in the spider"),
    "pipeline-error": (Outcome.RETRY, "error in a pipeline"),
    "stopped": (Outcome.DEAD, "stopped by an extension"),
    "item-dropped": (Outcome.DEAD, "dropped by a pipeline"),
}

#: Names of exception classes (Scrapy, Twisted, OpenSSL, asyncio, aiohttp, httpx) to error names; nothing needs to be
#: imported. A name that says little by itself has its module before it.
_BY_CLASS = {
    "TimeoutError": "timeout",
    "TCPTimedOutError": "timeout",
    "DownloadTimeoutError": "timeout",
    "ServerTimeoutError": "timeout",
    "DNSLookupError": "dns",
    "CannotResolveHostError": "dns",
    "UnknownHostError": "dns",
    "ClientConnectorDNSError": "dns",
    "gaierror": "dns",
    "ConnectionRefusedError": "connection-refused",
    "DownloadConnectionRefusedError": "connection-refused",
    "ConnectError": "connection-failed",
    "DownloadFailedError": "connection-failed",
    "ConnectionClosed": "connection-lost",
    "ConnectionAborted": "connection-lost",
    "ConnectionResetError": "connection-lost",
    "ConnectionAbortedError": "connection-lost",
    "BrokenPipeError": "connection-lost",
    "ServerDisconnectedError": "connection-lost",
    "ClientPayloadError": "connection-lost",
    "RemoteProtocolError": "connection-lost",
    "ReadError": "connection-lost",
    "ResponseNeverReceived": "connection-lost",
    "ResponseFailed": "connection-lost",
    "ResponseDataLossError": "connection-lost",
    "PotentialDataLoss": "connection-lost",
    "RequestNotSent": "connection-lost",
    "RequestTransmissionFailed": "connection-lost",
    "ParseError": "bad-response",
    "BadStatusLine": "bad-response",
    "SSLError": "tls",
    "OpenSSL.SSL.Error": "tls",
    "ClientSSLError": "tls",
    "VerificationError": "tls",
    "VerifyError": "tls",
    "CertificateError": "tls",
    "CancelledError": "cancelled",
    "ConnectingCancelledError": "cancelled",
    "DownloadCancelledError": "cancelled",
    "UnsupportedURLSchemeError": "unsupported-url",
    "NotSupported": "unsupported-url",
    "SchemeNotSupported": "unsupported-url",
    "InfiniteRedirection": "too-many-redirects",
    "TooManyRedirects": "too-many-redirects",
    "StopDownload": "stopped",
    "DropItem": "item-dropped",
    "IgnoreRequest": "ignored",
    "OSError": "connection-failed",
}

#: What only the message of an exception tells: class, words in the message, error name.
_BY_MESSAGE = (
    ("IgnoreRequest", "max redirections", "too-many-redirects"),
    ("DownloadCancelledError", "download max size", "too-big"),
    ("UnicodeError", "", "unsupported-url"),  # a host name that DNS can't hold
)
#: Exceptions that say less than what they wrap: Scrapy's one word for many failures, and Twisted's lists of reasons.
_WRAPPERS = ("DownloadFailedError", "ResponseFailed", "ResponseNeverReceived", "RequestTransmissionFailed")
_DEEPEST = 5


def decide(
    status: int | None,
    error: str | None,
    attempt: int,
    *,
    retry_after: float | None,
    max_attempts: int,
    backoff_seconds: float,
    jitter: float,
) -> Decision:
    """Return what becomes of a claim that was answered with ``status``, or failed with the error named ``error``.

    Args:
        status: of the answer; None if there was none.
        error: see ``classify_exception``; None if there was an answer.
        attempt: 1 for the first.
        retry_after: seconds the host asked for.
        max_attempts: after which a retry is dead.
        backoff_seconds: before the second attempt; doubles with each.
        jitter: 0..1, spreads the delays by a tenth.
    """
    outcome, reason = _by_error(error or "") if status is None else _by_status(status)
    if outcome != Outcome.RETRY:
        return Decision(outcome, reason)
    if attempt >= max_attempts:
        return Decision(Outcome.DEAD, reason)
    delay = backoff_seconds * 2 ** min(attempt - 1, _MOST_DOUBLINGS) if retry_after is None else retry_after
    delay = min(delay * (1 + _JITTER_SHARE * jitter), LONGEST_DELAY_SECONDS)
    return Decision(Outcome.RETRY, reason, delay, status in _BLOCKS_HOST)


def _by_status(status: int) -> tuple[Outcome, str]:
    if 200 <= status < 300:
        return Outcome.OK, ""
    default = Outcome.RETRY if status >= 500 else Outcome.DEAD
    return _BY_STATUS.get(status, default), f"status {status}"


def _by_error(error: str) -> tuple[Outcome, str]:
    return _BY_ERROR.get(error, (Outcome.RETRY, error or "unknown error"))


def classify_exception(error: BaseException) -> str:
    """Return the name of an error: by its class, else by the nearest base the table knows, else its class name.

    Where Scrapy or Twisted wrapped another error, the innermost one that the table knows counts.
    """
    names = [name for wrapped in _unwrapped(error) if (name := _known_name(wrapped))]
    return names[-1] if names else type(error).__name__


def _unwrapped(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and, while it is a mere wrapper, the one within."""
    inner: BaseException | None = error
    for _ in range(_DEEPEST):
        if inner is None:
            return
        yield inner
        if type(inner).__name__ not in _WRAPPERS:
            return
        reasons = getattr(inner, "reasons", None)
        inner = getattr(reasons[0], "value", None) if reasons else inner.__cause__


def _known_name(error: BaseException) -> str | None:
    for class_name, words, meaning in _BY_MESSAGE:
        if type(error).__name__ == class_name and words in str(error):
            return meaning
    for base in type(error).__mro__:
        if name := _BY_CLASS.get(f"{base.__module__}.{base.__name__}") or _BY_CLASS.get(base.__name__):
            return name
    return None


def retry_after(value: str, now: datetime) -> float | None:
    """Return the seconds a Retry-After header asks for, in either of its forms (RFC 9110, 10.2.3); None for none."""
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), LONGEST_DELAY_SECONDS)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()), LONGEST_DELAY_SECONDS)
