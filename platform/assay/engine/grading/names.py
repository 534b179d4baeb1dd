"""Names of the checks that every trial has. Those of plugins go by the plugin's name."""

from __future__ import annotations

STATE = "state"
ENDING = "ending"
REPLY = "reply:"  # followed by "complete", or by the number of the rule from 1
