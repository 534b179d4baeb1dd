"""The clauses of a pack version's policy, read from its bundle: what a task exercises, in words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from assay.engine.packs.findings import Findings
from assay.engine.packs.markdown import clauses
from assay.engine.packs.models import Clause
from assay.engine.packs.zips import read_zip
from assay.packs.models import PackVersion

_FILE = "policy.md"


def policy_of(version: PackVersion) -> tuple[str, dict[str, Clause]]:
    """The text of the policy and its clauses by id. `version` may have its bundle deferred."""
    return _read(version.content_hash, version.pk)


def clauses_named(version: PackVersion, names: Iterable[str]) -> list[tuple[str, str]]:
    """(id, text) of the clauses with these ids, in the order given."""
    known = policy_of(version)[1]
    return [(name, known[name].text if name in known else "") for name in names]


# By content and row: a row of another company with the same number and content has the same policy.
@lru_cache(maxsize=16)
def _read(content_hash: str, pk: int) -> tuple[str, dict[str, Clause]]:
    bundle = PackVersion.objects.only("bundle").get(pk=pk, content_hash=content_hash).bundle
    text = read_zip(bytes(bundle))[_FILE].decode()
    return text, clauses(_FILE, text, Findings())  # the pack was checked when it was stored
