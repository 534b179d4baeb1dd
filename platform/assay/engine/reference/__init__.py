"""Reference bots: they read the task's expected actions, and are there to check Assay, not to be certified.

`reference:faithful` does what is expected. `reference:careless` makes one known mistake now and then; what it
did is kept beside the trial, where grading does not see it.
"""

from assay.engine.reference.bots import connector_type
from assay.engine.reference.faults import CATEGORIES, FAULTS
from assay.engine.reference.key import answer_key

__all__ = ["CATEGORIES", "FAULTS", "answer_key", "connector_type"]
