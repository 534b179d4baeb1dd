"""The agent loop: one conversation of a model that calls tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine.agents.protocol import Call, Message, Protocol, Turn
from assay.engine.models.chat import ContextExceeded, LitellmModel
from assay_sdk import BotContext, BotFault, BotReply, ChatReply, LimitReached, ToolResult


class AgentSession:
    """See assay_sdk.BotSession.

    What the model does wrong (an unknown tool, arguments that cannot be read) is answered with an error and goes
    on. Raises ProviderOutage for the provider's faults, BotFault when the conversation no longer fits in the
    model's context, LimitReached when the model calls tools `rounds` times without answering.
    """

    def __init__(
        self,
        model: LitellmModel,
        protocol: Protocol,
        context: BotContext,
        *,
        rounds: int,
        instructions: str = "",
    ) -> None:
        self._model, self._protocol, self._context, self._rounds = model, protocol, context, rounds
        self._tools = protocol.tools(context.tools.specs)
        self._messages: list[Message] = [{"role": "system", "content": self._system(instructions)}]
        self._recall(context.history)
        self._completions = 0
        self._named: str | None = None  # what the provider calls the model

    async def respond(self, message: str) -> BotReply:
        self._hear(message)
        for _ in range(self._rounds):
            reply = await self._complete()
            turn = self._protocol.read(reply)
            if not turn.calls:
                return self._say(reply, turn)
            self._messages.append(self._protocol.called(turn))
            self._messages += self._protocol.answered([(call, await self._call(call)) for call in turn.calls])
        raise LimitReached(
            "tool_calls",
            f"The model called tools {self._rounds} times in a row without answering the customer.",
        )

    async def close(self) -> None:
        """Nothing is open between replies."""

    def notes(self) -> Mapping[str, Any]:
        return {"model": self._named, "tool_mode": self._protocol.name, "completions": self._completions}

    # --------------------------------------------------------------------------------------------

    def _system(self, instructions: str) -> str:
        parts = [
            self._context.instructions.strip(),
            instructions.strip(),
            f"It is now {self._context.now}.",
            self._protocol.instructions(self._context.tools.specs).strip(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _recall(self, history: Sequence[Mapping[str, Any]]) -> None:
        """A conversation that has been, as this model would have had it: calls as its own, results as it gets them."""
        for number, event in enumerate(history):
            if event["type"] == "user":
                self._hear(event["text"])
            elif event["type"] == "bot":
                if event["text"].strip():
                    self._messages.append({"role": "assistant", "content": event["text"]})
            else:
                given = event["arguments"]
                arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
                call = Call(f"past_{number}", event["tool"], arguments)
                result = ToolResult(
                    event["call"],
                    event["ok"],
                    event["result"],
                    event["error"],
                    event["message"],
                    event.get("notice"),
                )
                self._messages.append(self._protocol.called(self._protocol.written(call)))
                self._messages += self._protocol.answered([(call, result)])

    def _hear(self, message: str) -> None:
        text = self._protocol.customer(message)
        last = self._messages[-1]
        if last["role"] == "user":
            # After a reply without a word: many templates refuse two messages of one side in a row.
            self._messages[-1] = {"role": "user", "content": f"{last['content']}\n\n{text}"}
        else:
            self._messages.append({"role": "user", "content": text})

    async def _complete(self) -> ChatReply:
        meter = self._context.meter
        try:
            reply = await self._model.complete(
                self._messages, tools=self._tools, seed=self._context.seed, lost=meter.add_outage
            )
        except ContextExceeded as error:
            # Which model has to cope with this policy and these tools is the bot's choice.
            raise BotFault(str(error)) from error
        self._completions += 1
        self._named = reply.model or self._named
        meter.add_tokens(reply.prompt_tokens, reply.completion_tokens)
        return reply

    async def _call(self, call: Call) -> ToolResult:
        return await self._context.tools.call(call.name, call.arguments)

    def _say(self, reply: ChatReply, turn: Turn) -> BotReply:
        text = turn.text.strip() or (reply.refusal or "").strip()
        if text:
            self._messages.append({"role": "assistant", "content": text})
        return BotReply(text, truncated=reply.finish_reason in ("length", "content_filter"))
