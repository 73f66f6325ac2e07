"""The names of the project's stats. They are an API: dashboards and monitors read them.

``sitemapcrawl/run/...`` is set when a worker closes and holds the figures of the whole run, all workers counted.
"""

RUN = "sitemapcrawl/run"  #: + /COUNT
SEEDS_VALID = "sitemapcrawl/seeds/valid"
SEEDS_INVALID = "sitemapcrawl/seeds/invalid"
SITEMAPS_READ = "sitemapcrawl/sitemaps/read"  #: + /VERDICT
SITEMAPS_FAILED = "sitemapcrawl/sitemaps/failed"  #: + /REASON
ROBOTS_READ = "sitemapcrawl/robots/read"
URLS_STORED = "sitemapcrawl/urls/stored"
URLS_DROPPED = "sitemapcrawl/urls/dropped"  #: + /REASON
PROBLEMS = "sitemapcrawl/problems"  #: + /CODE
LOST_LEASES = "sitemapcrawl/leases/lost"
