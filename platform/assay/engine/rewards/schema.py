"""The JSON Schema of a line (draft 2020-12); `assay export rewards --schema` prints it."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_SHARE = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def _object(
    required: dict[str, Any], optional: dict[str, Any] | None = None, *, more: bool = False
) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": {**required, **(optional or {})},
        "additionalProperties": more,
    }


_TOOLS = {
    "type": "array",
    "items": _object(
        {
            "type": {"const": "function"},
            "function": _object({"name": _TEXT, "description": _TEXT, "parameters": {"type": "object"}}),
        }
    ),
}
_TOOL_CALL = _object(
    {
        "id": _TEXT,
        "type": {"const": "function"},
        "function": _object(
            {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                "arguments": {"type": "string", "contentMediaType": "application/json"},
            }
        ),
    }
)
_MESSAGES = {
    "type": "array",
    "minItems": 1,
    "items": {
        "oneOf": [
            _object({"role": {"const": "system"}, "content": _TEXT}),
            _object({"role": {"const": "user"}, "content": _TEXT}),
            _object({"role": {"const": "assistant"}, "content": {"type": "string", "minLength": 1}}),
            _object(
                {
                    "role": {"const": "assistant"},
                    "content": {"type": "null"},
                    "tool_calls": {"type": "array", "minItems": 1, "items": _TOOL_CALL},
                }
            ),
            _object({"role": {"const": "tool"}, "tool_call_id": _TEXT, "content": _TEXT}),
        ]
    },
}
_RUN = _object(
    {
        "kind": {"const": "run"},
        "format": {"const": 1},
        "pack": {"type": "object"},
        "bot": {"type": "object"},
        "seed": _TEXT,
        "trials": _COUNT,
        "tools": _TOOLS,
    },
    more=True,
)
_TRIAL = _object(
    {
        "kind": {"const": "trial"},
        "task": _TEXT,
        "group": _TEXT,
        "index": _COUNT,
        "attempt": _COUNT,
        "seed": {"type": "string", "pattern": "^[0-9]+$"},
        "status": {"enum": ["passed", "failed", "void"]},
        "void_cause": {"type": ["string", "null"]},
        "category": {
            "enum": [
                "tool_use_error",
                "missing_state_change",
                "incorrect_state_update",
                "incomplete_response",
                None,
            ]
        },
        "termination": _TEXT,
        "reward": _SHARE,
        "checks": {
            "type": "array",
            "items": _object(
                {
                    "name": _TEXT,
                    "outcome": {"enum": ["pass", "fail", "cannot_tell"]},
                    "required": {"type": "boolean"},
                    "reward": _SHARE,
                }
            ),
        },
        "messages": _MESSAGES,
        "truncated": {"type": "array", "items": _COUNT},
        "faults": {
            "type": "array",
            "items": _object(
                {"message": _COUNT, "call": _COUNT, "kind": _TEXT, "reached": {"type": "boolean"}}
            ),
        },
    },
    {"tools": _TOOLS},
)

LINE_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A line of an export of rewards",
    "oneOf": [_RUN, _TRIAL],
}
