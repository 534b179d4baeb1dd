"""Tool calls as a person types them: `tool key=value ...`, or `tool {"key": ...}`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from assay.plugins.options import did_you_mean
from assay_sdk import OptionsError, ToolSpec


def read_call(text: str, tools: Mapping[str, ToolSpec]) -> tuple[str, Mapping[str, Any] | str]:
    """The tool and the arguments of what stands behind `/call`. Raises OptionsError.

    Values are read by the tool's schema: text stays text, everything else is JSON where it is JSON. An object is passed
    on as it was typed, so that broken JSON gets the answer that a bot gets for it.
    """
    name, _, rest = text.strip().partition(" ")
    spec = find_tool(name, tools)
    rest = rest.strip()
    if rest.startswith("{"):
        return name, rest
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise OptionsError(
            f"The quotes do not match ({error}); write key='a value', or JSON: /call {name} {{...}}"
        ) from None
    properties = spec.input_schema.get("properties", {})
    arguments: dict[str, Any] = {}
    for word in words:
        key, sign, value = word.partition("=")
        if not sign or not key:
            example = " ".join(f"{p}=..." for p in list(properties)[:2]) or "without arguments"
            raise OptionsError(
                f"{word!r} is no key=value; write for example /call {name} {example}"
                " (quotes around a value with spaces)."
            )
        if key in arguments:
            raise OptionsError(f"{key!r} is given twice; give it once.")
        arguments[key] = _value(value, properties.get(key, {}))
    return name, arguments


def find_tool(name: str, tools: Mapping[str, ToolSpec]) -> ToolSpec:
    """The tool of that name. Raises OptionsError."""
    if not name:
        raise OptionsError("Name a tool, as in /call TOOL key=value ... or /tool TOOL; /tools lists them.")
    if name not in tools:
        raise OptionsError(f"There is no tool {name!r}{did_you_mean(name, tools)}; /tools lists them.")
    return tools[name]


def describe(spec: ToolSpec) -> str:
    """A tool with its arguments, for people."""
    properties = spec.input_schema.get("properties", {})
    required = spec.input_schema.get("required", [])
    lines = [f"{spec.name}: {' '.join(spec.description.split())}"]
    for name, schema in properties.items():
        about = [_kind(schema), *(["" if name in required else "optional"])]
        about += [" ".join(str(schema["description"]).split())] if schema.get("description") else []
        lines.append(f"  {name}: {', '.join(part for part in about if part)}")
    if not properties:
        lines.append("  (no arguments)")
    example = " ".join(f"{name}=..." for name in required) or " ".join(
        f"{n}=..." for n in list(properties)[:1]
    )
    lines.append(f"  /call {spec.name} {example}".rstrip())
    return "\n".join(lines)


def completions(line: str, tools: Mapping[str, ToolSpec], commands: Sequence[str]) -> list[str]:
    """The words that could stand at the end of a line: commands, tools, arguments, values of closed lists."""
    words = line.split(" ")
    last = words[-1]
    if len(words) == 1:
        return [f"{c} " for c in commands if c.startswith(last)] if last.startswith("/") else []
    if words[0] in ("/call", "/tool") and len(words) == 2:
        return [f"{name} " for name in tools if name.startswith(last)]
    if words[0] != "/call" or words[1] not in tools:
        return []
    properties = tools[words[1]].input_schema.get("properties", {})
    key, sign, value = last.partition("=")
    if not sign:
        given = {word.partition("=")[0] for word in words[2:-1]}
        return [f"{name}=" for name in properties if name.startswith(key) and name not in given]
    schema = properties.get(key, {})
    values = schema.get("enum") or (["true", "false"] if schema.get("type") == "boolean" else [])
    return [f"{key}={v} " for v in values if str(v).startswith(value)]


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(str(v) for v in schema["enum"])
    kind = schema.get("type", "any value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
