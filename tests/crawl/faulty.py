"""``scrapy`` in a process that kills itself (SIGKILL) at a named point, the first time it gets there.

    python tests/crawl/faulty.py POINT SKIP crawl sitemap -a seeds=...

POINT is one of POINTS; SKIP lets it pass so many times before. The project knows nothing of this: the points are put
around the frontier's own methods from outside.
"""

import os
import signal
import sys

from scrapy.cmdline import execute

from sitemapcrawl.frontier import Frontier
from sitemapcrawl.store import Store


class Trap:
    """Kills the process when it was passed often enough."""

    def __init__(self, skip):
        self.left = skip

    def spring(self):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)


def around(owner, name, trap, *, before=False, when=lambda *args: True):
    original = getattr(owner, name)

    async def trapped(self, *args, **kwargs):
        if before and when(*args):
            trap.spring()
        answer = await original(self, *args, **kwargs)
        if not before and when(*args):
            trap.spring()
        return answer

    setattr(owner, name, trapped)


def is_script(name):
    return lambda script, *rest: script == name


POINTS = {
    "before-commit": lambda trap: around(Frontier, "commit", trap, before=True),
    "after-commit": lambda trap: around(Frontier, "commit", trap),
    "between-partitions": lambda trap: around(Frontier, "_commit_host", trap, when=lambda *args: args[-1] is None),
    "during-top-up": lambda trap: around(Store, "script", trap, before=True, when=is_script("top_up")),
    "after-children-offered": lambda trap: around(Frontier, "offer", trap),
    "after-claim": lambda trap: around(Frontier, "claim", trap, when=lambda p, worker, most: most > 0),
    "seeds-taken": lambda trap: around(Frontier, "take_seeds", trap),
    "seeds-offered": lambda trap: around(Frontier, "seeds_done", trap, before=True),
}


if __name__ == "__main__":
    point, skip = sys.argv[1:3]
    POINTS[point](Trap(int(skip)))
    execute(["scrapy", *sys.argv[3:]])
