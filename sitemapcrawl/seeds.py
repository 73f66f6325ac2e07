"""stub"""
from dataclasses import dataclass
from enum import StrEnum
from sitemapcrawl import urls
class SourceKind(StrEnum):
    FILE="file"; URL="url"; STDIN="stdin"; REDIS="redis"; LINES="lines"
@dataclass(frozen=True)
class Source:
    kind: SourceKind
    value: str
@dataclass(frozen=True)
class Seed:
    url: str
    sitemaps: tuple=()
    is_sitemap: bool=False
    score: float=1.0
    interval_seconds: int|None=None
    line: int=0
    is_local: bool=False
@dataclass(frozen=True)
class BadSeed:
    name: str
    line: int
    text: str
    reason: str
def decode(b): return b.decode()
def describe(a, exists):
    return Source(SourceKind.FILE,a) if exists(a) else Source(SourceKind.LINES,a)
def parse(lines,name):
    for n,l in enumerate(lines,1):
        if not l.strip(): continue
        u=urls.repair(l.split()[0])
        yield Seed(u) if u else BadSeed(name,n,l,"bad")
