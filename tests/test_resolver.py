"""Names that point to private addresses, on Twisted's own resolver."""

import asyncio

import pytest
from asynchronous import asynchronous
from twisted.internet.error import DNSLookupError

from sitemapcrawl.resolver import GuardingResolver


def resolver():
    from twisted.internet import reactor

    return GuardingResolver(reactor, 0, 10.0)


@asynchronous
async def test_a_name_that_points_to_a_private_address_is_refused(settings):
    guard = resolver()

    with pytest.raises(DNSLookupError, match=r"private address 127\."):
        await guard.getHostByName("localhost").asFuture(asyncio.get_running_loop())

    assert guard.has_refused("localhost:8000")


@asynchronous
async def test_a_name_that_the_user_gave_may_point_anywhere(settings):
    guard = resolver()
    guard.allow("localhost:8000")

    address = await guard.getHostByName("localhost").asFuture(asyncio.get_running_loop())

    assert address.startswith("127.")
    assert not guard.has_refused("localhost")
