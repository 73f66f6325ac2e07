"""URLs: repaired as a browser does, compared by a canonical form, grouped by host and by site.

Knows the WHATWG URL standard (through Ada) and the public suffix list. Refuses to know where a
URL came from or what it is for.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import urljoin

import can_ada
from tldextract import TLDExtract
from w3lib.url import canonicalize_url
from xxhash import xxh3_64_intdigest

#: Scheme and authority, then a path that repairing and canonicalising would leave as it is.
_PLAIN = re.compile(r"(https?://[^/?#@\\\s]+)(?:/(?!\.)[A-Za-z0-9_.~-]+)*/?")
_PLAIN_PATH = re.compile(r"(?=/)(?:/(?!\.)[A-Za-z0-9_.~-]+)*/?")
#: Pairs of one letter-like name and value each: sorting them is all that canonicalising does.
_PLAIN_QUERY = re.compile(r"[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*(?:&[A-Za-z0-9_.~-]+=[A-Za-z0-9_.~-]*)*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
#: Blanks of every kind, zero-width characters and BOMs, as they stand around URLs in the wild.
_AROUND = "".join(map(chr, (*range(0x21), 0x7F, 0x85, 0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029)))
_AROUND += "\u202f\u205f\u2060\u3000\ufeff\u180e"
_LEAST_FINGERPRINT = 10**18
_FINGERPRINTS = 2**63 - _LEAST_FINGERPRINT
_SCHEMES = ("http:", "https:")
_suffixes = TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def repair(text: str, base: str = "") -> str | None:
    """Return the absolute http(s) URL a browser would open for ``text`` on the page ``base``, or None.

    Trims Unicode blanks and zero-width characters, resolves, encodes what must be encoded, drops the
    fragment. Follows https://url.spec.whatwg.org/. None: empty, not parseable, or another scheme.
    """
    if _is_plain(text) or _has_plain_query(text):
        return text
    text = text.encode("utf-8", "replace").decode().strip(_AROUND)  # Ada takes no lone surrogates
    if not text:
        return None
    try:
        url = can_ada.parse(text if _ABSOLUTE.match(text) or not base else urljoin(base, text))
    except ValueError:  # Ada's word for "no URL", and urljoin's for a bad IPv6 literal
        return None
    if url.protocol not in _SCHEMES or not url.hostname:
        return None
    url.hash = ""
    return str(url.href)


def canonical(url: str) -> str:
    """Return the form under which two spellings of one repaired URL are the same: query sorted, escapes evened."""
    if _is_plain(url):
        return url
    if _has_plain_query(url):
        before, _, query = url.partition("?")
        return f"{before}?{'&'.join(sorted(query.split('&'), key=_name_and_value))}"
    return str(canonicalize_url(url))


def _has_plain_query(url: str) -> bool:
    before, _, query = url.partition("?")
    return _PLAIN_QUERY.fullmatch(query) is not None and _is_plain(before)


def _name_and_value(pair: str) -> list[str]:
    return pair.split("=")


def _is_plain(url: str) -> bool:
    match = _PLAIN.fullmatch(url)
    return match is not None and match.end(1) < len(url) and _is_plain_origin(match[1])


@lru_cache(maxsize=65_536)
def _is_plain_origin(origin: str) -> bool:
    try:
        return str(can_ada.parse(origin + "/").href) == origin + "/"
    except ValueError:
        return False


def fingerprint(url: str) -> int:
    """Return an xxh3 hash of the canonical URL between 10^18 and 2^63: 19 digits, small enough for an intset."""
    return _LEAST_FINGERPRINT + xxh3_64_intdigest(canonical(url).encode()) % _FINGERPRINTS


def fingerprints(urls: Sequence[str]) -> list[int]:
    """Return the fingerprint of each URL; most URLs of a list share their origin, which is looked at once."""
    origin = _origin(urls[0]) if urls else ""
    begin = len(origin)
    is_plain_path, digest = _PLAIN_PATH.fullmatch, xxh3_64_intdigest
    return [
        _LEAST_FINGERPRINT + digest(url.encode()) % _FINGERPRINTS
        if origin and url.startswith(origin) and is_plain_path(url, begin)
        else fingerprint(url)
        for url in urls
    ]


def repairer(base: str) -> Callable[[str], str | None]:
    """Return ``repair`` on one page, for many texts: the origin of the last plain one is remembered."""
    origin, begin = "", 0
    is_plain_path = _PLAIN_PATH.fullmatch

    def repair_next(text: str) -> str | None:
        nonlocal origin, begin
        if begin and text.startswith(origin) and is_plain_path(text, begin):
            return text
        url = repair(text, base)
        if url == text:
            origin = _origin(text)
            begin = len(origin)
        return url

    return repair_next


def _origin(url: str) -> str:
    """Return scheme and authority of a plain URL; "" for another."""
    match = _PLAIN.match(url)
    return match[1] if match and _is_plain_origin(match[1]) else ""


def host_key(url: str) -> str:
    """Return the punycode host of a repaired URL, with the port if it is not the scheme's.

    http and https of one host share the key, and so one politeness clock.
    """
    authority = url.split("/", 3)[2]
    return authority.rpartition("@")[2]


def base_of(url: str) -> str:
    """Return scheme and authority of a repaired URL, with a final slash."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.split('/', 1)[0]}/"


@lru_cache(maxsize=65_536)
def site(host: str) -> str:
    """Return the site a host key belongs to: its registrable domain, or the host itself (IP, localhost, ports).

    http, https, www and other subdomains of one registrable domain are one site; another port is another site.
    """
    name, colon, port = host.partition(":") if not host.startswith("[") else (host, "", "")
    domain = _suffixes(name).top_domain_under_public_suffix or name.removeprefix("www.")
    return domain + colon + port


@lru_cache(maxsize=65_536)
def is_private(host: str) -> bool:
    """Tell whether a host key is literally a private, loopback or link-local address, or localhost."""
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) and not host.endswith("]") else host
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        address = ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return not (mapped or address).is_global
