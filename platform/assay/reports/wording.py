"""Figures and names as people read them; the same in the page and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

CATEGORIES = {
    "tool_use_error": "Tool-use error",
    "missing_state_change": "Missing state change",
    "incorrect_state_update": "Incorrect state update",
    "incomplete_response": "Incomplete response",
}
ILLUSIONS = {
    "s1": "S1: ended cleanly",
    "s2": "S2: and changed data",
    "s3": "S3: and no tool showed an error",
}
GATES = {True: ("Gate met.", "green"), False: ("Gate not met.", "red"), None: ("Gate undecided.", "yellow")}
CAUSES = {
    "provider_outage": "A model provider or the bot's endpoint did not answer",
    "simulator_fault": "The simulated user failed",
    "pack_fault": "The pack is at fault",
    "plugin_fault": "A plugin failed",
    "internal_error": "An error in Assay",
    "worker_lost": "A worker was lost",
    "setup_failed": "The bot or the pack could not be set up",
    "cancelled": "Cancelled",
    "cannot_tell": "A required check could not tell",
}


ENDINGS = {
    "user_done": "The customer had nothing more to ask",
    "bot_handover": "The bot handed over to a person",
    "bot_closed": "The bot closed the conversation",
    "user_gave_up": "The customer gave up",
    "turn_limit": "The limit of turns was reached",
    "tool_call_limit": "The limit of tool calls was reached",
    "token_limit": "The limit of tokens was reached",
    "time_limit": "The time limit was reached",
    "empty_replies": "The bot gave empty replies",
    "bot_error": "The bot failed with an error",
}


CHECKS = {
    "state": "Final database",
    "ending": "How it ended",
    "reply:complete": "The reply is whole",
    "leak": "Nothing is given away",
}
_GAP = "\u00a0"  # a line does not end between a number and its sign


def percent(share: float | None) -> str:
    """65.4 %; a dash for a share that does not exist."""
    return "–" if share is None else f"{share * 100:.1f}{_GAP}%"


def interval(estimate: Mapping[str, Any] | None) -> str:
    """60.1 to 70.3 %"""
    if not estimate or estimate.get("low") is None or estimate.get("high") is None:
        return ""
    return f"{estimate['low'] * 100:.1f} to {estimate['high'] * 100:.1f}{_GAP}%"


def value(estimate: Mapping[str, Any] | None) -> str:
    return percent(None if not estimate else estimate["value"])


def cause(name: str) -> str:
    return CAUSES.get(name, name.replace("_", " ").capitalize())


def ending(name: str) -> str:
    """Why a conversation ended."""
    return ENDINGS.get(name) or cause(name)


def check_name(name: str) -> str:
    """What a check of the verdict looks at: the engine's own by their words, others as their plugin names them."""
    if name in CHECKS:
        return CHECKS[name]
    kind, _, number = name.partition(":")
    if kind == "process":
        return f"Process rule {number}"
    return f"Rule {number} of the reply" if kind == "reply" and number.isdigit() else name


def category(name: str) -> str:
    return CATEGORIES.get(name, name.replace("_", " ").capitalize())


def count(number: int, noun: str) -> str:
    """1 trial, 20 trials"""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def moment(text: str) -> str:
    """2026-12-01 21:05 UTC, of a time in ISO 8601; whatever is no time stays as it is."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if at.tzinfo else text


def columns(summary: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    """The estimates that a table shows: (heading, family in a group, k). Of 20 trials: pass@1, pass@20, pass^5, pass^20."""
    most = max(1, int(summary["trials_per_task"]))
    picked = [("pass_at", 1), ("pass_at", most), ("pass_hat", min(5, most)), ("pass_hat", most)]
    signs = {"pass_at": "@", "pass_hat": "^"}
    # of one trial all four are the same figure
    return [
        (f"pass{signs[family]}{k}", family, str(k))
        for family, k in dict.fromkeys(picked)
        if (family, k) != ("pass_hat", 1)
    ]
