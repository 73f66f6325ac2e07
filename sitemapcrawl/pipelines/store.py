"""The last pipeline: what an item leads to is offered, its rows are stored, its claim is finished, in this order.

Knows what each kind of item means for the frontier. Refuses to know Redis, and how outcomes are decided.
"""

from __future__ import annotations

import json
import logging
import random
import time
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Self

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler

from sitemapcrawl import offers, outcomes, stats
from sitemapcrawl.entries import Lastmod, Link
from sitemapcrawl.frontier import Frontier
from sitemapcrawl.frontier.catalogue import Row
from sitemapcrawl.frontier.listing import rows_of
from sitemapcrawl.frontier.records import Claim, Finish, FoundBy, Kind, Offer, Offered
from sitemapcrawl.outcomes import Outcome
from sitemapcrawl.pipelines.limits import drop
from sitemapcrawl.scheduler import scheduler_of

logger = logging.getLogger(__name__)

#: Verdicts after which a file counts as read: its rows stand, and unchanged bytes need not be read again.
_READ = ("ok", "partial", "truncated", "too-big")
_PROBLEMS_KEPT = 20


async def give_up(crawler: Crawler, failure: Any) -> None:
    """Finish the claim of a failure that no pipeline will see."""
    await StorePipeline(crawler).process_item(failure)


class StorePipeline:
    """Stores what a claim yielded, and finishes it."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._crawler = crawler
        self._paths: Sequence[str] = settings.getlist("SITEMAPCRAWL_WELL_KNOWN_PATHS")
        self._deepest = settings.getint("SITEMAPCRAWL_MAX_DEPTH")
        self._backoff_seconds = settings.getfloat("SITEMAPCRAWL_BACKOFF_SECONDS")
        self._max_attempts = settings.getint("SITEMAPCRAWL_MAX_ATTEMPTS")
        self._wants_rows = bool(settings.getdict("FEEDS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def _frontier(self) -> Frontier:
        return scheduler_of(self._crawler).frontier

    async def process_item(self, item: Any) -> Any:
        """Store an item of ours, whatever its type; a user's own item, without a claim, passes."""
        fields = ItemAdapter(item)
        claim: Claim | None = fields.get("claim")
        if claim is None:
            return item
        if "robots" in fields:
            finished = await self._robots(claim, fields)
        elif "rows" in fields:
            finished = await self._sitemap(claim, fields)
        else:
            finished = await self._failure(claim, fields)
        if not finished:
            self._count(stats.LOST_LEASES)
            logger.warning("The lease of %s ran out before it was stored; another worker reads it", claim.url)
        scheduler_of(self._crawler).worker.let_go(claim)
        return item

    # robots.txt

    async def _robots(self, claim: Claim, fields: ItemAdapter) -> bool:
        robots, found = fields["robots"], 0
        self._count(stats.ROBOTS_READ)
        if claim.host_record.get("discover") == self._frontier.run.id:
            named = offers.of_robots(claim, robots, time.time())
            found = len(await self._offer(named))
            if not (named or fields["dropped"]):
                await self._offer_first(offers.of_next_path(claim, self._paths, time.time()))
        status = fields["status"]
        outcome = "unchanged" if fields["cached"] else "ok" if status < 300 else "gone"
        end = Finish(
            outcome, "" if outcome != "gone" else f"status {status}", shown=False, since_seconds=_since(fields)
        )
        if not fields["cached"]:
            delay = robots.crawl_delay(self._user_agent)
            end.delay_seconds = min(delay or 0, self._frontier.policy.crawl_delay_cap_seconds)
            end.fields = {
                "robots_status": status, "robots_body": zlib.compress(fields["body"]),
                "crawl_delay": round((delay or 0) * 1000), "robots_sitemaps": len(robots.sitemaps),
                "robots_html": int(robots.is_html),
            }  # fmt: skip
        end.counts = {"robots": 1, "robots/named": found}
        end.counts |= {f"dropped/{reason}": n for reason, n in fields["dropped"].items()}
        return await self._frontier.finish(claim, end)

    @property
    def _user_agent(self) -> str:
        settings = self._crawler.settings
        return str(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])

    # Sitemaps

    async def _sitemap(self, claim: Claim, fields: ItemAdapter) -> bool:
        verdict = str(fields["verdict"])
        if not fields["unchanged"] and verdict not in _READ:
            return await self._unreadable(claim, fields, verdict)
        if fields["unchanged"]:
            fields["links"] = await self._stored_links(claim)
        children, refused = offers.of_links(claim, fields["links"], self._deepest, time.time())
        children = await self._grant_sitemaps(children, fields)
        for url, reason in refused:
            drop(fields, reason, [url])
        await self._offer(children)
        if fields["unchanged"]:
            return await self._unchanged(claim, fields)
        return await self._commit(claim, fields, verdict)

    async def _commit(self, claim: Claim, fields: ItemAdapter, verdict: str) -> bool:
        rows: dict[str, Sequence[Row]] = fields["rows"]
        count = sum(map(len, rows.values()))
        problems = self._problems(claim, fields)
        outcome = Outcome.OK
        end = Finish(outcome, since_seconds=_since(fields))
        end.fields = {
            "url": fields["url"], "kind": str(fields["kind"]), "verdict": verdict, "bytes": fields["bytes"],
            "hash": fields["hash"] if verdict == "ok" else "", "etag": fields["etag"] if verdict == "ok" else "",
            "last_modified": fields["last_modified"] if verdict == "ok" else "", "recipe": fields["recipe"],
            "urls": count, "children": len(fields["links"]), "links": _pack_links(fields["links"]),
            "problems": json.dumps(problems[:_PROBLEMS_KEPT]), "dropped": json.dumps(fields["dropped"]),
            "samples": json.dumps(fields["samples"]), "target": "",
        }  # fmt: skip
        end.counts = {"read": 1, f"read/{verdict}": 1}
        end.counts |= {f"dropped/{reason}": n for reason, n in fields["dropped"].items() if n}
        stored = await self._frontier.commit(claim, rows, fields["hash"], fields["recipe"], end)
        if stored:
            self._count(f"{stats.SITEMAPS_READ}/{verdict}")
            self._count(stats.URLS_STORED, count)
            for host, kept in rows.items():
                await self._frontier.top_up(host, claim.url, kept)
        return stored

    async def _unchanged(self, claim: Claim, fields: ItemAdapter) -> bool:
        if self._wants_rows:
            hosts = claim.record.get("hosts", "").split()
            fields["rows"] = {host: await rows_of(self._frontier, host, claim.url) for host in hosts}
        end = Finish(Outcome.UNCHANGED, since_seconds=_since(fields))
        urls = int(await self._stored(claim, "urls") or 0)
        end.counts = {"read": 1, "read/unchanged": 1, "listed": urls, "unchanged": urls}
        self._count(f"{stats.SITEMAPS_READ}/unchanged")
        return await self._frontier.finish(claim, end)

    async def _unreadable(self, claim: Claim, fields: ItemAdapter, verdict: str) -> bool:
        """A file that is no sitemap: a failure that keeps what an earlier read listed."""
        is_probe = await self._probe_failed(claim)
        end = Finish(
            Outcome.GONE if is_probe else Outcome.DEAD, verdict, shown=not is_probe, since_seconds=_since(fields)
        )
        problems = self._problems(claim, fields)
        end.fields = {
            "kind": str(fields["kind"]),
            "verdict": verdict,
            "problems": json.dumps(problems[:_PROBLEMS_KEPT]),
        }
        end.counts = {"probes/absent" if is_probe else f"failed/{verdict}": 1}
        if not is_probe:
            self._count(f"{stats.SITEMAPS_FAILED}/{verdict}")
        return await self._frontier.finish(claim, end)

    def _problems(self, claim: Claim, fields: ItemAdapter) -> list[dict[str, Any]]:
        problems: list[dict[str, Any]] = [*fields["problems"], *({"code": note, "count": 1} for note in claim.notes)]
        for problem in problems:
            self._count(f"{stats.PROBLEMS}/{problem['code']}", problem["count"])
        for reason, n in fields["dropped"].items():
            if n:
                self._count(f"{stats.URLS_DROPPED}/{reason}", n)
        return problems

    # Failures

    async def _failure(self, claim: Claim, fields: ItemAdapter) -> bool:
        wait = outcomes.retry_after(fields["headers"].get("Retry-After", ""), datetime.now(UTC))
        decision = outcomes.decide(
            fields["status"], fields["error"], claim.attempt, retry_after=wait, max_attempts=self._max_attempts,
            backoff_seconds=self._backoff_seconds, jitter=random.random(),  # noqa: S311  no secret
        )  # fmt: skip
        ended = decision.outcome != Outcome.RETRY
        is_probe = ended and await self._probe_failed(claim)
        delay = decision.delay_seconds or 0.0
        end = Finish(
            decision.outcome,
            decision.reason,
            not is_probe,
            delay,
            delay if decision.host_block else 0.0,
            _since(fields),
        )
        end.fields = {"detail": fields["detail"]}
        if fields["error"] == "blacklisted" and fields["detail"] not in ("", end.reason):
            end.reason = f"{end.reason}: {fields['detail']}"
        area = "robots/failed" if claim.kind == Kind.ROBOTS else "failed"
        end.counts = {"probes/absent" if is_probe else f"{area if ended else 'retried'}/{decision.reason}": 1}
        if ended and not is_probe:
            self._count(f"{stats.SITEMAPS_FAILED}/{decision.reason}")
        return await self._frontier.finish(claim, end)

    async def _probe_failed(self, claim: Claim) -> bool:
        """Tell whether the claim was a well-known path that nobody named; if so, try the next one."""
        if claim.record.get("found_by") != FoundBy.PATH:
            return False
        await self._offer_first(offers.of_next_path(claim, self._paths, time.time()))
        return True

    # Offers and limits

    async def _offer(self, made: Sequence[Offer]) -> list[Offer]:
        """Offer requests; return those that are new in this run."""
        answers = await self._frontier.offer(made) if made else []
        new = [offer for offer, answer in zip(made, answers, strict=True) if answer == Offered.NEW]
        for offer in new:
            logger.debug("Scheduled: %s", offer.url)
        return new

    async def _offer_first(self, made: Sequence[Offer]) -> None:
        """Offer one request after another until one need not be tried another time."""
        for offer in made:
            if (await self._frontier.offer([offer]))[0] != Offered.ABSENT:
                return

    async def _grant_sitemaps(self, children: list[Offer], fields: ItemAdapter) -> list[Offer]:
        most = self._crawler.spider.arguments.max_sitemaps  # type: ignore[union-attr]
        if not most or not children:
            return children
        granted = [offer for offer in children if await self._frontier.grant("sitemaps", offer.url, 1, most)]
        drop(fields, "max_sitemaps", [offer.url for offer in children if offer not in granted])
        return granted

    # Small things

    async def _stored(self, claim: Claim, name: str) -> bytes | None:
        key = self._frontier.keys.of(claim.host, f"sitemap:{claim.url}")
        value: bytes | None = await self._frontier.store.command("HGET", key, name)
        return value

    async def _stored_links(self, claim: Claim) -> list[Link]:
        packed = await self._stored(claim, "links")
        return [
            Link(loc, Lastmod(lastmod[0], lastmod[1]) if lastmod else None) for loc, lastmod in _unpack_links(packed)
        ]

    def _count(self, name: str, n: int = 1) -> None:
        self._crawler.stats.inc_value(name, n)


def _since(fields: ItemAdapter) -> float:
    return max(0.0, time.monotonic() - float(fields["answered_at"]))


def _pack_links(links: Sequence[Link]) -> bytes:
    return zlib.compress(json.dumps(links).encode()) if links else b""


def _unpack_links(packed: bytes | None) -> list[tuple[str, tuple[int, str] | None]]:
    return json.loads(zlib.decompress(packed)) if packed else []
