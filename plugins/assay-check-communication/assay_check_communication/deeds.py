"""What support bots say they do, and by which words the database would show it.

The words are wide on purpose: a deed goes by other names in other companies, and a bot that did it must not be told
that it did not.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Past participle, as a regular expression -> stems found in names of tools, tables and columns, or in rows.
DEEDS: Mapping[str, tuple[str, ...]] = {
    "refunded|reimbursed|repaid": (
        "refund",
        "reimburs",
        "repa[iy]",
        "credit",
        "payment",
        "payout",
        "revers",
        "adjust",
    ),
    "credited": ("credit", "refund", "payment", "adjust", "balance", "payout", "waive"),
    "cancell?ed|terminated": ("cancel", "terminat", "void", "clos", "end", "withdr"),
    "re-?booked|booked|reserved": (
        "book",
        "reserv",
        "trip",
        "flight",
        "segment",
        "room",
        "appoint",
        "schedul",
    ),
    "re-?scheduled|scheduled": ("schedul", "book", "appoint", "slot", "visit", "date", "deliver", "change"),
    "replaced|exchanged": ("replac", "exchang", "order", "ship", "return", "issue", "card", "request"),
    "upgraded|downgraded": (
        "upgrad",
        "downgrad",
        "plan",
        "tier",
        "level",
        "class",
        "cabin",
        "fare",
        "seat",
        "room",
    ),
    "extended": ("exten", "due", "deadline", "expir", "until", "end", "date"),
    "renewed": ("renew", "exten", "due", "expir", "until", "term"),
    "waived": ("waiv", "fee", "charge", "credit", "adjust", "refund"),
    "unlocked|unblocked|unfrozen": (
        "unlock",
        "lock",
        "block",
        "froz",
        "freez",
        "status",
        "enabl",
        "activ",
        "reset",
    ),
    "locked|blocked|frozen|suspended": (
        "lock",
        "block",
        "froz",
        "freez",
        "suspen",
        "status",
        "hold",
        "disabl",
    ),
    "reset": ("reset", "password", "mfa", "token", "credential", "factor", "pin"),
    "shipped|dispatched": ("ship", "dispatch", "order", "deliver", "status", "replac"),
    "escalated": (
        "escalat",
        "ticket",
        "case",
        "incident",
        "hand",
        "transfer",
        "assign",
        "queue",
        "priority",
        "review",
    ),
}

#: Participles that any write may stand for.
ANY_DEED = (
    "done|completed|processed|submitted|arranged|updated|changed|opened|created|filed|registered|issued|granted|revoked"
    "|added|removed|applied|activated|deactivated|disabled|enabled|charged|ordered|assigned|approved|set up|put through"
    "|taken care of|sorted"
)
