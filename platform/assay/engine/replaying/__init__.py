"""What a trial did, done again: its recorded calls on a fresh sandbox, and the database as it was in between."""

from assay.engine.replaying.history import State, history, state_at
from assay.engine.replaying.replaying import Replay, Step, UnlikeCall, restore

__all__ = ["Replay", "State", "Step", "UnlikeCall", "history", "restore", "state_at"]
