"""The judge of a run, by the name of its model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.engine.grading.judging import MOST_VOTES, VOTES, Judge, Kept
from assay.plugins.bots import Secret, build_model
from assay.plugins.options import env_secret
from assay_sdk import OptionsError


def build_judge(
    spec: str | None,
    options: Mapping[str, Any],
    votes: int = VOTES,
    kept: Path | None = None,
    secret: Secret = env_secret,
) -> Judge | None:
    """The judge whose model `spec` (NAME:MODEL) names; None without one.

    `kept`: a file in which judgements are kept, so that nothing is asked twice. Raises OptionsError; PluginFault when
    a plugin breaks.
    """
    if not spec or not spec.strip():
        if options:
            raise OptionsError("There are options for a judge, but no judge; name its model too.")
        return None
    if not 1 <= votes <= MOST_VOTES:
        raise OptionsError(f"A judge has 1 to {MOST_VOTES} votes, not {votes}.")
    return Judge(build_model(spec, options, secret), votes, Kept(kept))


def describe_judge(spec: str | None, judge: Judge | None) -> dict[str, Any] | None:
    """For the manifest, without secrets."""
    return {"spec": (spec or "").strip(), **judge.describe()} if judge is not None else None
