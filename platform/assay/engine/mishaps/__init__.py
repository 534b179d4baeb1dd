"""Faults on purpose, between a bot and its sandbox: what goes wrong, when, and how a bot gets over it.

docs/reference/faults.md is the contract. Nothing here changes the world by itself, and nothing keeps a bot that
repeats a call from getting its answer.
"""

from assay.engine.mishaps.mishaps import IN_A_ROW, MOST, Answer, Earlier, Mishaps
from assay.engine.mishaps.profiles import NONE, PROFILES, MishapOptions, Quiet

__all__ = ["IN_A_ROW", "MOST", "NONE", "PROFILES", "Answer", "Earlier", "MishapOptions", "Mishaps", "Quiet"]
