"""stub"""
from dataclasses import dataclass
@dataclass(frozen=True)
class Arguments:
    seeds: str=""
    max_urls: int=0
    max_per_host: int=0
    max_sitemaps: int=0
    run: str="resume"
    def recipe(self): return {}
def parse(raw,now,extra=()): return Arguments(seeds=raw.get("seeds",""))
