"""What a failed trial looked like to somebody who reads only the transcript."""

from __future__ import annotations

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.grading.verdict import Surface


def surface(transcript: Transcript) -> Surface:
    """S1 it ended cleanly; S2 = S1 and a call changed data; S3 = S2 and no tool result showed an error, but for
    those that were injected on purpose."""
    calls = [event for event in transcript.events if isinstance(event, ToolCall)]
    s1 = transcript.termination.fault == "none"
    s2 = s1 and any(call.wrote for call in calls)
    s3 = s2 and all(call.ok or call.spoiled for call in calls)
    return Surface(s1, s2, s3)
