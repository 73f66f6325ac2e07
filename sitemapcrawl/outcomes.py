"""stub"""
from dataclasses import dataclass
from enum import StrEnum
class Outcome(StrEnum):
    OK="ok"; UNCHANGED="unchanged"; REDIRECT="redirect"; RETRY="retry"; GONE="gone"; DEAD="dead"; BLOCKED="blocked"
@dataclass(frozen=True)
class Decision:
    outcome: Outcome
    reason: str
    delay_seconds: float|None
    host_block: bool
def decide(status,error,attempt,*,retry_after,max_attempts,backoff_seconds,jitter):
    if status in (404,410): return Decision(Outcome.GONE,str(status),None,False)
    if attempt>=max_attempts: return Decision(Outcome.DEAD,str(status or error),None,False)
    return Decision(Outcome.RETRY,str(status or error),retry_after if retry_after is not None else backoff_seconds*2**(attempt-1),status in(429,503))
def classify_exception(e): return type(e).__name__
def retry_after(value,now): return float(value) if value.isdigit() else None
