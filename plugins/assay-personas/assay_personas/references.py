"""The number or address under which a customer's own record is found, and wrong ones like it.

A persona may say it wrongly, because a look-up with the wrong one finds nothing: it lacks a figure or a letter, and all
of a kind are equally long. What only proves who one is (a PIN, a birth date, a postal code) is never said wrongly,
since a failed check may lock or close something; nor is what a bot writes down (a new address, a serial number).
"""

from __future__ import annotations

import random
import re

from assay_sdk import Fact, UserScript

_RECORD = re.compile(
    r"(?:my |own )?(?:order|reservation|booking|policy|claim|return|contract|ticket|case|account|customer|invoice|change|action)"
    r" (?:number|no|id|reference)"
)
_RECORD_ID = re.compile(r"[A-Z]{2,4}-?\d{3,}")
_ADDRESS = re.compile(r"(?:work |my |account )?e-?mail(?: address)?")
_PERSON = re.compile(r"(?:staff|employee|customer|member|account) (?:number|no|id)")
_SECRETS = re.compile(r"birth|born|postal|zip|pass ?word", re.IGNORECASE)

NONE = "The customer knows no number of a record or address of their own that could be said wrongly without harm."


def reference(script: UserScript) -> Fact | None:
    """The fact that finds the customer's record, if saying it wrongly can only make a look-up find nothing."""
    facts = [f for f in script.facts if f.value not in script.opening]
    records = [f for f in facts if _RECORD.fullmatch(f.key.lower()) and _RECORD_ID.fullmatch(f.value)]
    if records:
        return records[0]
    addresses = [f for f in facts if _ADDRESS.fullmatch(f.key.lower())]
    if addresses:
        # With a birth date or postal code the address is half of the check, and a failed check may be counted.
        safe = "@" in addresses[0].value and not any(_SECRETS.search(f.key) for f in script.facts)
        return addresses[0] if safe else None
    numbers = [f for f in facts if _PERSON.fullmatch(f.key.lower()) and re.fullmatch(r"\d{5,}", f.value)]
    return numbers[0] if numbers else None


def misremembered(fact: Fact, script: UserScript, seed: int) -> str | None:
    """The value without one of its figures (or letters, of an e-mail address). None when no such value would do."""
    part = fact.value.partition("@")[0] if "@" in fact.value else fact.value
    inner = range(1, len(part) - 1) if "@" in fact.value else range(len(part))
    places = [i for i in inner if (part[i].isalpha() if "@" in fact.value else part[i].isdigit())]
    shorter = {fact.value[:i] + fact.value[i + 1 :] for i in places}
    known = {f.value for f in script.facts}
    ways = sorted(way for way in shorter if way not in known and way not in script.opening)
    return random.Random(seed).choice(ways) if ways else None  # noqa: S311 - nothing secret


def next_to(value: str) -> str | None:
    """The number after this one, as somebody else's may be: ORD-4139 gives ORD-4140."""
    found = re.fullmatch(r"([A-Z]{2,4}-?)?(\d{3,})", value)
    if found is None:
        return None
    number = str(int(found[2]) + 1).zfill(len(found[2]))
    return (found[1] or "") + number


def not_for(script: UserScript) -> str | None:
    """The `not_for` of personas that say such a value wrongly."""
    fact = reference(script)
    return None if fact is not None and misremembered(fact, script, 0) is not None else NONE
