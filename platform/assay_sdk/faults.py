"""Who caused a conversation to go wrong. Everything a plugin may raise on purpose."""

from __future__ import annotations


class AssayError(Exception):
    """Base of every error that Assay or a plugin raises on purpose."""


class BotFault(AssayError):
    """The bot under test did something wrong that ends the conversation: the trial fails."""


class LimitReached(BotFault):
    """The bot used up a limit of the conversation (`limit`: turns, tool_calls, tokens or seconds)."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class PlatformFault(AssayError):
    """Something that is not the bot's doing: the trial is void and is tried again.

    `cause` is a short stable word under which void trials are counted
    (provider_outage, simulator_fault, pack_fault, plugin_fault, worker_lost, internal_error, ...).
    """

    cause = "internal_error"

    def __init__(self, message: str, *, cause: str | None = None) -> None:
        super().__init__(message)
        if cause is not None:
            self.cause = cause


class ProviderOutage(PlatformFault):
    """A model provider or a bot's endpoint did not answer properly, after bounded retries."""

    cause = "provider_outage"


class SimulatorFault(PlatformFault):
    """The simulated user could not be made to say something allowed. `kind`: a short word for what was wrong."""

    cause = "simulator_fault"

    def __init__(self, message: str, *, kind: str = "broken") -> None:
        super().__init__(message)
        self.kind = kind


class PackFault(PlatformFault):
    """The pack itself is at fault (a tool that exceeds its bounds, SQL that cannot run)."""

    cause = "pack_fault"


class PluginFault(PlatformFault):
    """A plugin raised, hung or returned something that is not what its contract says.

    `part`: which part of which kind, as in "persona terse". Assay fills it in where a plugin leaves it out.
    """

    cause = "plugin_fault"

    def __init__(self, message: str, *, part: str = "") -> None:
        super().__init__(message)
        self.part = part


class OptionsError(AssayError):
    """Options given to a plugin are wrong; the message says which and what to do."""
