"""The simulated users of a run and what was drawn out of them, worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.reports.wording import count

KINDS = {
    "volunteered_fact": "Told a fact unasked",
    "invented_id": "Invented an id",
    "invented_amount": "Invented an amount",
    "invented_date": "Invented a date",
    "invented_name": "Invented a name",
    "invented_address": "Invented an address",
    "contradicted_fact": "Contradicted its facts",
    "left_early": "Left while something was open",
    "empty": "Said nothing",
    "other_role": "Spoke as the assistant",
    "leaked_prompt": "Spoke of its instructions",
    "other_language": "Spoke another language",
    "too_long": "Said too much",
    "repeated": "Said the same again and again",
    "late": "Took too long",
    "broken": "Broke",
}


def kind(name: str) -> str:
    return KINDS.get(name, name.replace("_", " ").capitalize())


def kind_rows(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """[{"name", "count"}], the most frequent first."""
    return [
        {"name": kind(name), "count": n} for name, n in sorted(counts.items(), key=lambda i: (-i[1], i[0]))
    ]


def users_sentence(users: Mapping[str, Any] | None) -> str:
    """What a model in the customer's part was refused and used; empty without one."""
    if not users:
        return ""
    tokens = users["prompt_tokens"] + users["completion_tokens"]
    asked = users["audit_questions"]
    judged = (
        f" A second model was asked {count(asked, 'question')} about wording and could not tell "
        f"{users['audit_could_not_tell']:,} of them."
        if asked
        else ""
    )
    return (
        f"A model played the customer in {count(users['trials'], 'trial')}. The audit refused "
        f"{count(users['lines_rejected'], 'line')} in {count(users['trials_with_rejections'], 'trial')} before the bot "
        f"saw them.{judged} The customers used {tokens:,} tokens, which are not counted as the bot's."
    )


def never_asked(disclosures: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """[{"task", "title", "facts", "trials"}]: hidden facts that no trial of the task drew out."""
    return [
        {
            "task": row["task"],
            "title": titles.get(row["task"], ""),
            "facts": ", ".join(row["never"]),
            "trials": row["trials"],
        }
        for row in disclosures
        if row["never"]
    ]


def disclosure_sentence(disclosures: Sequence[Mapping[str, Any]]) -> str:
    """How much of what customers kept to themselves came out; empty when nothing was hidden."""
    facts = sum(len(row["drawn"]) * row["trials"] for row in disclosures)
    if not facts:
        return ""
    drawn = sum(sum(row["drawn"].values()) for row in disclosures)
    never = sum(len(row["never"]) for row in disclosures)
    return (
        f"Customers tell only part of what they know. Of {facts:,} hidden facts in valid trials the bot drew out "
        f"{drawn:,} ({100 * drawn / facts:.1f} %); {count(never, 'fact')} of {count(len(disclosures), 'task')} "
        f"{'was' if never == 1 else 'were'} never asked for. Not every fact is needed for the right outcome."
    )
