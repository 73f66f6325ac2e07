"""All errors this project raises, with who raises them where.

SitemapcrawlError
├── ArgumentError        a spider argument, setting or command option is wrong
├── SeedError            one seed line can't be read
├── StoreUnreachable     the Redis server does not answer when a command starts
└── RunConflict          the unfinished run has other filters than this worker
"""


class SitemapcrawlError(Exception):
    """Base of every error this project raises on purpose."""


class ArgumentError(SitemapcrawlError):
    """Raised by ``arguments`` and ``filters``: one sentence that names the value and what to write instead."""


class SeedError(SitemapcrawlError):
    """Raised by ``seeds.parse_line`` for one line; the message is the reason shown in brackets."""


class StoreUnreachable(SitemapcrawlError):
    """Raised by ``store.connect`` at the start of a command, never during a crawl."""


class RunConflict(SitemapcrawlError):
    """Raised by ``frontier.Frontier.join_run`` when the unfinished run has other filters; names both."""
