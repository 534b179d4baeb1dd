"""Trials as lines for training: each check's reward, and the conversation in the OpenAI chat format."""

from assay.engine.rewards.given import GIVEN, Given, given_by
from assay.engine.rewards.lines import run_line, trial_line
from assay.engine.rewards.schema import LINE_SCHEMA

__all__ = ["GIVEN", "LINE_SCHEMA", "Given", "given_by", "run_line", "trial_line"]
