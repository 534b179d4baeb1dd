"""A line in a persona's manner, checked: a persona changes how something is said, never what."""

from __future__ import annotations

from assay_sdk import Persona, PluginFault, UserLine, UserScript


def in_manner_of(persona: Persona, line: UserLine, script: UserScript) -> UserLine:
    """`line` as `persona` says it. Raises PluginFault when the persona breaks or changes what is said."""
    name = type(persona).__name__
    try:
        said = persona.manner(line, script)
    except PluginFault:
        raise
    except Exception as error:
        raise PluginFault(f"The persona {name} raised {type(error).__name__}: {error}") from error
    if not isinstance(said, UserLine) or not isinstance(said.text, str):
        raise PluginFault(f"The persona {name} returned a {type(said).__name__}, not a UserLine.")
    if line.text.strip() and not said.text.strip():
        raise PluginFault(f"The persona {name} made an empty line of {line.text!r}.")
    if (said.done, said.gave_up) != (line.done, line.gave_up):
        raise PluginFault(
            f"The persona {name} changed whether the customer leaves; a persona changes the manner only."
        )
    if tuple(said.facts_given) != tuple(line.facts_given):
        raise PluginFault(
            f"The persona {name} changed which facts the line gives; a persona changes the manner only."
        )
    for fact in script.facts:
        if fact.value in line.text and fact.value not in said.text:
            raise PluginFault(
                f"The persona {name} dropped the value of {fact.key!r}; it must stand in the line as it is."
            )
        if fact.value in said.text and fact.value not in line.text and _telling(fact.value):
            raise PluginFault(f"The persona {name} gave away {fact.key!r}, which the line does not tell.")
    return said


def _telling(value: str) -> bool:
    """Whether the value cannot stand in a line by chance, as "no" or "blue" can."""
    return len(value) > 8 or any(c.isdigit() for c in value)
