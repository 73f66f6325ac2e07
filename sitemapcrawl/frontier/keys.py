"""Every Redis key of the frontier: its type, its member, its score, who writes it and when it goes.

A crawl is split into P partitions; a host belongs to partition xxh3(host key) mod P. All keys of a
partition carry the hash tag ``{CRAWL:P}``, so that each script runs in one Redis Cluster slot.

The partition's keys, written ``{CRAWL:P}:name`` (``REQUEST`` is ``HOST KIND URL``, KIND robots or sitemap):

    hosts             SET   host keys                                  offer, commit; never expires
    host:HOST         HASH  base, seeded, score, next_at, block_until, inflight,      claim, finish, commit
                            robots_* (what robots.txt said), seen_count, seen_buckets, priorities, floor
    turn              ZSET  host -> ms when it may be claimed next     offer, claim, finish; gone when idle
    control:HOST      ZSET  REQUEST -> -rank, robots.txt first         offer, finish; taken by claim
    due               ZSET  REQUEST -> ms of its next attempt          finish; taken by claim
    leases            ZSET  REQUEST -> ms when its lease runs out      claim, renew; finish, give_back
    lease             HASH  REQUEST -> "TOKEN WORKER"                  claim; finish, give_back
    attempts          HASH  REQUEST -> failed attempts                 finish, claim (died workers)
    token             INT   the last fencing token                     claim
    events            INT   offers so far, for the end of a run        offer
    sitemaps:HOST     SET   URLs of the sitemaps that lie on the host  offer, commit
    sitemap:URL       HASH  the sitemap's record, see records.py       offer, finish
    files:HOST        SET   URLs of the sitemaps that list its pages   commit
    file:HOST:URL     HASH  hash, recipe, run, count, index, priorities   commit
    rows:HOST:URL     LIST  blocks of rows, best rank first, see catalogue.py   commit
    new:HOST:URL      LIST  blocks of a file that is committed in parts   commit
    seen:HOST:BUCKET  SET   fingerprints below 2^63 (an intset)            commit; never expires
    ranked:HOST       ZSET  page URL -> rank 0..1, the best pending    top_up; taken by whoever fetches
    low               ZSET  "HOST URL" of a file not yet topped up -> ms of its commit   commit; top_up
    failures:RUN      HASH  REQUEST -> "OUTCOME REASON", shown in the summary   finish, claim
    counts:RUN        HASH  name -> count, shown in the summary        commit, finish, offer

The crawl's own keys, written ``{CRAWL}:name``:

    run               HASH  id, started, recipe, state                 join_run, end_run
    workers           ZSET  worker -> ms when its registration ends    beat; leave
    seeding           ZSET  worker that still reads seeds -> the same  beat; leave
    grants:RUN        HASH  what limits granted to which sitemap       grant
    wake              channel  a partition that has new work           offer, finish, give_back
"""

from __future__ import annotations

from xxhash import xxh3_64_intdigest


class Keys:
    """Names the keys of one crawl."""

    def __init__(self, crawl: str, partitions: int) -> None:
        self.crawl = crawl
        self.partitions = partitions
        self.wake = f"{{{crawl}}}:wake"

    def partition(self, host: str) -> int:
        """Return the partition a host key belongs to."""
        return xxh3_64_intdigest(host.encode()) % self.partitions

    def tag(self, partition: int) -> str:
        """Return the hash tag that all keys of a partition begin with."""
        return f"{{{self.crawl}:{partition}}}"

    def of(self, host: str, name: str) -> str:
        """Return the key ``name`` in the partition of ``host``."""
        return f"{self.tag(self.partition(host))}:{name}"

    def crawl_wide(self, name: str) -> str:
        """Return one of the crawl's own keys."""
        return f"{{{self.crawl}}}:{name}"
