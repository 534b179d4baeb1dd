"""The model-driven user: a customer whose lines a model writes and an audit lets pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.engine.dialogue import prompting
from assay.engine.dialogue.arbiter import Arbiter
from assay.engine.dialogue.audit import Finding, Kind, Scene, audit, facts_said
from assay.engine.dialogue.manners import Part
from assay.engine.dialogue.role_words import plain_line
from assay.engine.dialogue.scripted import ENOUGH, LEAVE, PATIENCE, SAME_MESSAGE
from assay.engine.dialogue.transcript import BotMessage, UserMessage
from assay_sdk import ChatModel, ChatReply, Role, SimulatorFault, UserLine, UserScript
from assay_sdk.users import as_it_is

TRIES = 4  # lines that the model may write for one moment
LINE_SECONDS = 300.0  # for one line, all its tries and the provider's retries included
_KEPT = 2_000  # characters kept of a rejected line


@dataclass(frozen=True)
class ModelledUsers:
    """Makes the users of a run's trials. `audit_model`: for what rules cannot tell, None when rules are all.

    `model` and `audit_model` are shared by the trials and closed with `aclose`.
    """

    model: ChatModel
    audit_model: ChatModel | None = None
    tries: int = TRIES

    def __call__(self, script: UserScript, part: Part | None, seed: int) -> ModelledUser:
        return ModelledUser(script, part, seed, self.model, self.audit_model, self.tries)

    def describe(self) -> dict[str, Any]:
        """For the manifest: models and how lines are audited, without secrets."""
        return {
            "kind": "model",
            "model": dict(self.model.describe()),
            "tries": self.tries,
            "audit": "rules" if self.audit_model is None else "rules, then a model where wording decides",
            "audit_model": dict(self.audit_model.describe()) if self.audit_model else None,
        }

    async def aclose(self) -> None:
        for model in (self.model, self.audit_model):
            if model is not None:
                await model.aclose()


@dataclass(slots=True)
class _Account:
    """What the trial's evidence says about its user."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    rejected: list[dict[str, Any]] = field(default_factory=list)

    def meter(self, prompt: int, completion: int) -> None:
        self.calls += 1
        self.prompt_tokens += max(0, prompt)
        self.completion_tokens += max(0, completion)


class ModelledUser:
    """See assay_sdk.SimulatedUser. The opening is the script's; every later line is the model's.

    A line that the audit rejects is asked for again with the reasons, `tries` times in all, and then the trial is
    void: SimulatorFault with the kind of what was wrong. No rejected line reaches the bot, or the model's later turns.
    Raises ProviderOutage when the model cannot be had. A bot that brings nothing new for PATIENCE answers is left.
    """

    def __init__(
        self,
        script: UserScript,
        part: Part | None,
        seed: int,
        model: ChatModel,
        audit_model: ChatModel | None = None,
        tries: int = TRIES,
    ) -> None:
        role = part.role if part else Role(script)
        liberties = part.liberties if part else frozenset()
        self._role = role
        self._scene = Scene(role, liberties, prompting.rules_of(role), hears=part.hear if part else as_it_is)
        self._model = model
        self._tries = tries
        self._seed = seed
        self._account = _Account()
        self._arbiter = Arbiter(audit_model, self._account.meter, seed) if audit_model else None
        self._messages: list[Any] = [{"role": "system", "content": prompting.instructions(role)}]
        self._left = False
        self._heard = ""
        self._same = self._idle = 0

    async def open(self) -> UserLine:
        text = self._role.script.opening
        self._messages.append({"role": "user", "content": "Write the customer's first message."})
        return self._spoken(
            UserLine(
                text,
                facts_given=facts_said(text, self._role.script),
                misstated=self._scene.misstated_in(text),
            )
        )

    async def resume(self, said: Sequence[BotMessage | UserMessage]) -> None:
        """Know a conversation that has been, up to the customer's last line, as one's own."""
        self._messages.append({"role": "user", "content": "Write the customer's first message."})
        for event in said:
            if isinstance(event, UserMessage):
                line = UserLine(event.text, facts_given=event.facts_given, misstated=event.misstated)
                self._spoken(line)
            elif event.text.strip():
                self._heard = event.text
                self._scene.hear(event.text)
                self._messages.append(prompting.heard(event.text))

    async def answer(self, bot_message: str) -> UserLine:
        if self._left:
            raise SimulatorFault("The customer has left; nothing more can be said to them.")
        scene = self._scene
        self._same = self._same + 1 if bot_message.split() == self._heard.split() else 1
        self._heard = bot_message
        scene.hear(bot_message)
        self._idle = 0 if scene.new else self._idle + 1
        self._messages.append(prompting.heard(bot_message))
        if self._same >= SAME_MESSAGE or self._idle > PATIENCE:
            return self._spoken(UserLine(ENOUGH, gave_up=True))
        return self._spoken(await self._line())

    def account(self) -> dict[str, Any]:
        """For the evidence: what the user used, which lines were rejected and why."""
        found = self._account
        return {
            "kind": "model",
            "model": str(self._model.describe().get("model", "")),
            "calls": found.calls,
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
            "audit": {
                "by": "rule and model" if self._arbiter else "rule",
                "model_asked": self._arbiter.asked if self._arbiter else 0,
                "model_could_not_tell": self._arbiter.could_not_tell if self._arbiter else 0,
            },
            "rejected": list(found.rejected),
        }

    # --- one line -------------------------------------------------------------------------------

    async def _line(self) -> UserLine:
        attempts: list[Any] = []
        findings: list[Finding] = []
        for number in range(self._tries):
            # Another seed for each try: the same one would only write the same line again.
            seed = (self._seed + 7_919 * len(self._scene.lines) + number) % 2**63
            reply = await self._model.complete([*self._messages, *attempts], seed=seed)
            self._account.meter(reply.prompt_tokens, reply.completion_tokens)
            line, findings = self._read(reply)
            if not findings:
                findings = audit(line, self._scene)
                if self._arbiter:
                    findings = await self._arbiter.review(line, findings, self._scene)
            if not findings:
                return line
            self._reject(reply.text, findings)
            attempts = prompting.refused(reply.text[:_KEPT], [f.reason for f in findings])
        worst = findings[0]
        raise SimulatorFault(
            f"The simulated user could not be made to say something allowed in {self._tries} tries. The last one: "
            f"{worst.kind.value}: {worst.reason}",
            kind=worst.kind.value,
        )

    def _read(self, reply: ChatReply) -> tuple[UserLine, list[Finding]]:
        """The line that a completion holds, or why it holds none."""
        text, done, gave_up = prompting.read(plain_line(reply.text))
        if reply.tool_calls:
            why = "It calls a tool. A customer has none: write what they say."
            return UserLine(text), [Finding(Kind.OTHER_ROLE, why)]
        if reply.finish_reason == "length":
            return UserLine(text), [Finding(Kind.TOO_LONG, "It was cut off. Say less.")]
        if not text and reply.text.strip() and (done or gave_up):
            text = self._role.script.closing if done else LEAVE
        script = self._role.script
        return (
            UserLine(
                text,
                done,
                gave_up,
                facts_said(text, script, self._scene.asked),
                self._scene.misstated_in(text),
            ),
            [],
        )

    def _reject(self, text: str, findings: Sequence[Finding]) -> None:
        self._account.rejected.append(
            {
                "line": len(self._scene.lines),
                "text": text[:_KEPT],
                "findings": [f.as_json() for f in findings],
            }
        )

    def _spoken(self, line: UserLine) -> UserLine:
        self._scene.say(line)
        self._messages.append(prompting.said(line.text))
        self._left = line.done or line.gave_up
        return line
