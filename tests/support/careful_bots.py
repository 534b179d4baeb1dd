"""Reference bots that do more than the faithful one: read back what they were told, or say no in words.

They act as the faithful bot does, so that whatever a persona makes of it shows in the verdict.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.engine.reference import connector_type
from assay_sdk import BotContext, BotReply, BotSession

_TOLD = re.compile(r"(?m)^([A-Z][^:\n]*): (.+)$")


class _Wrapped:
    """The faithful bot with a session around its own."""

    synthetic = True
    session: type[_Session]

    def __init__(self) -> None:
        self._inner = connector_type.build("faithful", connector_type.options(), os.environ.__getitem__)

    def describe(self) -> Mapping[str, Any]:
        return {**self._inner.describe(), "title": type(self).__name__}

    async def open(self, context: BotContext) -> BotSession:
        return self.session(await self._inner.open(context))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Session:
    def __init__(self, inner: BotSession) -> None:
        self.inner = inner

    async def close(self) -> None:
        await self.inner.close()

    def notes(self) -> Mapping[str, Any]:
        return self.inner.notes()

    async def respond(self, message: str) -> BotReply:
        return await self.inner.respond(message)


class _ReadsBack(_Session):
    """Says the values it was told once more and asks whether they are right, before anything else."""

    heard = ""

    async def respond(self, message: str) -> BotReply:
        if self.heard:
            heard, self.heard = self.heard, ""
            return await self.inner.respond(f"{heard}\n{message}")
        told = _TOLD.findall(message)
        if not told:
            return await self.inner.respond(message)
        self.heard = message
        listed = " ".join(f"Your {key[0].lower()}{key[1:]} is {value}." for key, value in told)
        return BotReply(f"Let me read that back to you. {listed} Is that right?")


class _Refuses(_Session):
    """Says at the end of every reply but its questions that it cannot do more."""

    async def respond(self, message: str) -> BotReply:
        reply = await self.inner.respond(message)
        if "Could you please give me" in reply.text:
            return reply
        return replace(reply, text=f"Unfortunately I cannot do more than policy allows. {reply.text}")


class _AsksInChinese(_Session):
    """Asks and takes its leave in Chinese; what the reply rules want stays in English."""

    async def respond(self, message: str) -> BotReply:
        reply = await self.inner.respond(message)
        lead, found, keys = reply.text.partition("Could you please give me the following?")
        if found:
            listed = [f"- {CHINESE.get(key, key)}" for key in keys.replace("- ", "").split("\n") if key]
            nothing = "没有找到相关记录。" if "could not find" in lead else "好的, 我来帮您。"
            return replace(reply, text="\n".join([f"{nothing}请提供以下信息:", *listed]))
        text = reply.text.replace(GOODBYE, "请问还有其他可以帮您的吗?")
        return replace(reply, text=text)


GOODBYE = "Is there anything else I can help you with?"
CHINESE = {
    "email address": "邮箱地址",
    "work email": "工作邮箱",
    "date of birth": "出生日期",
    "postal code": "邮政编码",
    "name": "姓名",
    "order number": "订单号",
    "reservation number": "预订号",
    "policy number": "保单号",
    "claim number": "理赔编号",
    "staff number": "工号",
    "personnel number": "工号",
    "desk PIN": "服务台密码",
    "reason": "原因",
    "first day": "开始日期",
    "last day": "结束日期",
}


class AskingInChinese(_Wrapped):
    session = _AsksInChinese


class ReadingBack(_Wrapped):
    session = _ReadsBack


class Refusing(_Wrapped):
    session = _Refuses
