"""The frontier's operations on a real server."""

import asyncio

import pytest
from asynchronous import asynchronous, claim_one, eventually, frontier_on

from sitemapcrawl.entries import Lastmod, Precision
from sitemapcrawl.exceptions import RunConflict
from sitemapcrawl.frontier import listing
from sitemapcrawl.frontier.catalogue import Row
from sitemapcrawl.frontier.forgetting import forget_all, forget_host
from sitemapcrawl.frontier.records import Finish, FoundBy, Kind, Offer, Offered

HOST = "www.example.com"
SITEMAP = f"https://{HOST}/sitemap.xml"


def sitemap(url=SITEMAP, **fields):
    return Offer(Kind.SITEMAP, url, site=HOST, **fields)


def rows(count, host=HOST, start=0):
    when = Lastmod(1_700_000_000, Precision.SECOND)
    return [Row(9_000 - n // 10, f"https://{host}/p/{start + n:06}", when, "daily", 0.5) for n in range(count)]


async def urls_of(frontier, host=HOST):
    return [found.row.loc async for found in listing.listed(frontier, [host])]


async def seen_of(frontier, host=HOST):
    buckets = int(await frontier.store.command("HGET", frontier.keys.of(host, f"host:{host}"), "seen_buckets") or 0)
    sizes = [await frontier.store.command("SCARD", frontier.keys.of(host, f"seen:{host}:{n}")) for n in range(buckets)]
    return sum(sizes)


@asynchronous
async def test_an_offer_is_new_once_in_a_run(settings):
    async with frontier_on(settings) as frontier:
        answers = await frontier.offer([sitemap(), sitemap(SITEMAP + "?2"), sitemap()])

        assert [Offered.NEW, Offered.NEW, Offered.KNOWN] == answers


@asynchronous
async def test_a_new_run_may_read_a_sitemap_again(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap()])
        await frontier.finish(await claim_one(frontier, HOST), Finish("ok"))
        await frontier.end_run()
        await frontier.join_run({})

        answers = await frontier.offer([sitemap()])

        assert [Offered.NEW] == answers
        assert SITEMAP == (await claim_one(frontier, HOST)).url


@asynchronous
async def test_a_claim_carries_what_the_offer_said(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap(found_by=FoundBy.INDEX, chain=("https://a/robots.txt",), depth=2, score=3.0)])

        claim = await claim_one(frontier, HOST)

        assert (("https://a/robots.txt",), 2, 3.0, HOST) == (claim.chain, claim.depth, claim.score, claim.site)


@asynchronous
async def test_sitemaps_are_claimed_by_rank_and_robots_txt_before_them(settings):
    async with frontier_on(settings) as frontier:
        robots = Offer(Kind.ROBOTS, f"https://{HOST}/robots.txt", discover=True)
        await frontier.offer([sitemap(SITEMAP + "?low", rank=0.2), sitemap(SITEMAP + "?high", rank=0.9), robots])

        order = []
        while claim := await claim_one(frontier, HOST):
            order.append(claim.url)
            await frontier.finish(claim, Finish("ok"))

        assert [robots.url, SITEMAP + "?high", SITEMAP + "?low"] == order


@asynchronous
async def test_a_host_whose_robots_txt_is_unknown_is_asked_for_it_first(settings):
    async with frontier_on(settings, robots_ttl_seconds=3600.0) as frontier:
        await frontier.offer([sitemap()])

        first = await claim_one(frontier, HOST)
        await frontier.finish(first, Finish("ok"))
        second = await claim_one(frontier, HOST)

        assert (Kind.ROBOTS, f"https://{HOST}/robots.txt") == (first.kind, first.url)
        assert Kind.SITEMAP == second.kind


@asynchronous
async def test_a_host_whose_robots_txt_failed_is_closed_until_it_answers(settings):
    async with frontier_on(settings, robots_ttl_seconds=3600.0) as frontier:
        await frontier.offer([sitemap()])
        await frontier.finish(await claim_one(frontier, HOST), Finish("retry", "500", retry_seconds=0.2))

        assert await claim_one(frontier, HOST) is None
        again = await eventually(lambda: claim_one(frontier, HOST))
        await frontier.finish(again, Finish("ok"))

        assert Kind.ROBOTS == again.kind
        assert 2 == again.attempt
        assert Kind.SITEMAP == (await claim_one(frontier, HOST)).kind


@asynchronous
async def test_one_request_of_a_host_runs_at_a_time(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])

        first, second = await claim_one(frontier, HOST), await claim_one(frontier, HOST)

        assert first
        assert second is None


@asynchronous
async def test_more_run_at_a_time_where_the_setting_allows(settings):
    async with frontier_on(settings, host_concurrency=2) as frontier:
        await frontier.offer([sitemap(SITEMAP + f"?{n}") for n in range(3)])

        claims = [await claim_one(frontier, HOST) for _ in range(3)]

        assert [True, True, False] == [claim is not None for claim in claims]


@asynchronous
async def test_the_delay_counts_from_when_the_answer_began(settings):
    async with frontier_on(settings, host_delay_seconds=0.3) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])
        claim = await claim_one(frontier, HOST)
        await asyncio.sleep(0.35)
        loop = asyncio.get_running_loop()
        answered_at = loop.time()

        await frontier.finish(claim, Finish("ok"))

        await eventually(lambda: claim_one(frontier, HOST))
        assert loop.time() - answered_at >= 0.3


@asynchronous
async def test_a_block_closes_the_host_for_all_its_requests(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])
        claim = await claim_one(frontier, HOST)

        await frontier.finish(claim, Finish("retry", "429", retry_seconds=0.3, block_seconds=0.3))

        assert await claim_one(frontier, HOST) is None
        assert await eventually(lambda: claim_one(frontier, HOST))


@asynchronous
async def test_an_expired_lease_comes_back_and_its_old_token_is_refused(settings):
    async with frontier_on(settings, lease_seconds=0.1) as frontier:
        await frontier.offer([sitemap()])
        old = await claim_one(frontier, HOST)

        new = await eventually(lambda: claim_one(frontier, HOST))

        assert 2 == new.attempt
        assert not await frontier.finish(old, Finish("ok"))
        assert not await frontier.commit(old, {HOST: rows(3)}, "h", "r", Finish("ok"))
        assert await frontier.commit(new, {HOST: rows(2)}, "h", "r", Finish("ok"))
        assert 2 == len(await urls_of(frontier))


@asynchronous
async def test_a_request_whose_workers_always_die_is_dead_after_the_last_attempt(settings):
    async with frontier_on(settings, lease_seconds=0.05, max_attempts=2) as frontier:
        await frontier.offer([sitemap()])
        await claim_one(frontier, HOST)
        await eventually(lambda: claim_one(frontier, HOST))
        await asyncio.sleep(0.1)

        assert await claim_one(frontier, HOST) is None

        summary = await listing.summarise(frontier)
        assert {f"{HOST} sitemap {SITEMAP}": "dead its worker died each time"} == summary.failures


@asynchronous
async def test_renewed_leases_stay_and_lost_ones_are_told(settings):
    async with frontier_on(settings, lease_seconds=0.3) as frontier:
        await frontier.offer([sitemap()])
        claim = await claim_one(frontier, HOST)
        for _ in range(4):
            await asyncio.sleep(0.15)
            assert [] == await frontier.renew([claim])
        await frontier.finish(claim, Finish("ok"))

        assert [claim] == await frontier.renew([claim])


@asynchronous
async def test_what_is_given_back_is_claimed_again_without_an_attempt_charged(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap()])

        await frontier.give_back([await claim_one(frontier, HOST)])

        assert 1 == (await claim_one(frontier, HOST)).attempt


@asynchronous
async def test_a_commit_lists_the_rows_in_rank_order_and_counts_what_is_new(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])
        await frontier.commit(await claim_one(frontier, HOST), {HOST: rows(2_500)}, "h", "r", Finish("ok"))

        await frontier.commit(await claim_one(frontier, HOST), {HOST: rows(1_000, start=2_000)}, "h", "r", Finish("ok"))

        counts = (await listing.summarise(frontier)).counts
        assert (3_500, 3_000) == (counts["listed"], counts["new"])
        assert 3_000 == await seen_of(frontier)
        listed = [found async for found in listing.listed(frontier, [HOST], with_sources=True)]
        assert sorted({found.row.order for found in listed}) == [found.row.order for found in listed]
        assert 3_000 == len(listed)
        assert 500 == sum(len(found.sitemaps) == 2 for found in listed)


@pytest.mark.parametrize("count", [0, 1, 256, 257, 12_345, 25_000])
@asynchronous
async def test_fingerprints_are_exact_whatever_the_number_of_buckets(settings, count):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])

        for _ in range(2):
            await frontier.commit(await claim_one(frontier, HOST), {HOST: rows(count)}, "h", "r", Finish("ok"))

        counts = (await listing.summarise(frontier)).counts
        assert (count, 2 * count) == (counts["new"], counts["listed"])
        assert count == await seen_of(frontier)


@asynchronous
async def test_a_read_replaces_what_the_file_listed_also_of_hosts_it_lists_no_more(settings):
    async with frontier_on(settings) as frontier:
        other = "example.com"
        await frontier.offer([sitemap()])
        first = {HOST: rows(5), other: rows(4, other)}
        await frontier.commit(await claim_one(frontier, HOST), first, "h1", "r", Finish("ok"))
        await frontier.end_run()
        await frontier.join_run({})
        await frontier.offer([sitemap()])

        await frontier.commit(await claim_one(frontier, HOST), {HOST: rows(2)}, "h2", "r", Finish("ok"))

        assert 2 == len(await urls_of(frontier))
        assert [] == await urls_of(frontier, other)
        assert 4 == await seen_of(frontier, other)


@asynchronous
async def test_every_commit_may_be_made_twice(settings):
    async with frontier_on(settings) as frontier:
        await frontier.offer([sitemap()])
        claim = await claim_one(frontier, HOST)
        files = {HOST: rows(25_000), "example.com": rows(25_000, "example.com")}

        answers = [await frontier.commit(claim, files, "h", "r", Finish("ok", counts={"read": 1})) for _ in range(2)]

        counts = (await listing.summarise(frontier)).counts
        assert [True, True] == answers
        assert (1, 50_000, 50_000) == (counts["read"], counts["listed"], counts["new"])
        assert [row.loc for row in files[HOST]] == await urls_of(frontier)


@asynchronous
async def test_ranked_holds_the_best_pages_and_the_floor_tells_what_waits(settings):
    async with frontier_on(settings, queue_size=100) as frontier:
        await frontier.offer([sitemap(), sitemap(SITEMAP + "?2")])
        first = await claim_one(frontier, HOST)
        await frontier.commit(first, {HOST: rows(300)}, "h", "r", Finish("ok"))
        await frontier.top_up(HOST, first.url)
        better = [Row(9_999, f"https://{HOST}/best/{n}", None, None, None) for n in range(10)]
        second = await claim_one(frontier, HOST)
        await frontier.commit(second, {HOST: better}, "h", "r", Finish("ok"))

        for _ in range(2):
            await frontier.top_up(HOST, second.url)

        ranked = await frontier.store.command("ZRANGE", frontier.keys.of(HOST, f"ranked:{HOST}"), 0, -1)
        expected = [row.loc for row in better] + [row.loc for row in rows(90)]
        assert sorted(expected) == sorted(member.decode() for member in ranked)
        floor = await frontier.store.command("HGET", frontier.keys.of(HOST, f"host:{HOST}"), "floor")
        assert f"0.8991 {rows(91)[90].loc}" == floor.decode()


@asynchronous
async def test_a_file_that_a_dead_worker_did_not_top_up_is_told_with_a_later_claim(settings):
    async with frontier_on(settings, lease_seconds=0.1) as frontier:
        await frontier.offer([sitemap()])
        await frontier.commit(await claim_one(frontier, HOST), {HOST: rows(3)}, "h", "r", Finish("ok"))
        await asyncio.sleep(0.15)

        claimed = await frontier.claim(frontier.keys.partition(HOST), "w", 0)

        assert [(HOST, SITEMAP)] == claimed.low


@asynchronous
async def test_a_negative_answer_at_a_well_known_path_is_kept_for_a_while(settings):
    async with frontier_on(settings) as frontier:
        probe = sitemap(found_by=FoundBy.PATH)
        await frontier.offer([probe])
        await frontier.finish(await claim_one(frontier, HOST), Finish("gone", "404"))
        await frontier.end_run()
        await frontier.join_run({})

        assert [Offered.ABSENT] == await frontier.offer([probe])
        assert [Offered.NEW] == await frontier.offer([sitemap(found_by=FoundBy.ROBOTS)])


@asynchronous
async def test_a_worker_with_other_filters_may_not_join_an_unfinished_run(settings):
    async with frontier_on(settings) as frontier:
        with pytest.raises(RunConflict, match=r"\(no filters\).*-a include=/blog/\*"):
            await frontier.join_run({"include": "/blog/*"})

        with pytest.raises(RunConflict, match="SITEMAPCRAWL_CRAWL"):
            await frontier.check_run({"include": "/blog/*"})


@asynchronous
async def test_an_unfinished_run_is_given_up_only_when_nobody_else_works_on_it(settings):
    async with frontier_on(settings) as frontier:
        old = frontier.run.id
        for worker in ("a", "b"):
            await frontier.beat(worker, 60, seeding=False)
        assert old == (await frontier.join_run({}, fresh=True)).id
        await frontier.beat("a", 0, seeding=False)

        new = await frontier.join_run({}, fresh=True)

        assert old != new.id


@asynchronous
async def test_a_limit_grants_the_same_to_the_same_sitemap_again(settings):
    async with frontier_on(settings) as frontier:
        granted = [await frontier.grant("max_urls", name, 6, 10) for name in ("a", "b", "a", "c")]

        assert [6, 4, 6, 0] == granted


@pytest.mark.parametrize("push", [("RPUSH",), ("SADD",), ("ZADD", "1")])
@asynchronous
async def test_seed_lines_are_removed_only_after_their_seeds_are_offered(settings, push):
    async with frontier_on(settings, lease_seconds=0.1) as frontier:
        key, command = "sitemap:start_urls", frontier.store.command
        await command(push[0], key, *push[1:], "https://example.com/ sitemaps: a.xml")

        taken = await frontier.take_seeds(key, 10)
        assert [] == await frontier.take_seeds(key, 10)
        await asyncio.sleep(0.15)
        again = await frontier.take_seeds(key, 10)
        await frontier.seeds_done(key, [member for member, _ in again])
        await asyncio.sleep(0.15)

        assert ["https://example.com/ sitemaps: a.xml"] == [line for _, line in taken]
        assert taken == again
        assert [] == await frontier.take_seeds(key, 10)


@asynchronous
async def test_a_forgotten_host_leaves_the_others_as_they_are(settings):
    async with frontier_on(settings) as frontier:
        for host in (HOST, HOST + ":8080"):
            await frontier.offer([Offer(Kind.SITEMAP, f"https://{host}/s.xml", site=host)])
            await frontier.commit(await claim_one(frontier, host), {host: rows(3, host)}, "h", "r", Finish("ok"))
            await frontier.top_up(host, f"https://{host}/s.xml")

        await forget_host(frontier, HOST)

        keys = [key.decode() async for key in frontier.store.client.scan_iter()]
        assert [HOST + ":8080"] == await listing.hosts(frontier)
        assert 3 == len(await urls_of(frontier, HOST + ":8080"))
        assert [] == [key for key in keys if HOST in key and HOST + ":8080" not in key]


@asynchronous
async def test_a_forgotten_crawl_leaves_other_crawls_as_they_are(settings):
    async with frontier_on(settings) as mine, frontier_on(settings, crawl="other") as other:
        await mine.offer([sitemap()])
        await other.offer([sitemap()])

        await forget_all(mine)

        assert [] == await listing.hosts(mine)
        assert [HOST] == await listing.hosts(other)
