"""The customer who writes Simplified Chinese, and what they understand."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from assay.engine.dialogue import scripted
from assay.engine.dialogue.asking import understand
from assay.engine.dialogue.audit import Scene, audit
from assay_sdk import Fact, PersonaType, Reaction, UserLine, UserScript

Talk = Callable[..., list[UserLine]]  # the fixture `talk` of conftest.py

SCRIPT = UserScript(
    opening="Please send the label for my return.",
    goal="A label is sent.",
    facts=(
        Fact("order number", "ORD-4139", ("order id", "order")),
        Fact("email address", "elena.whitfield@mailbox.example", ("email",)),
        Fact("name", "Elena Whitfield"),
        Fact("postal code", "37206"),
        Fact("reason", "It does not fit.", ("why",)),
    ),
    reactions=(Reaction("told about the fee", ("fee",), "accept"),),
    follow_ups=("And when will I have the money?",),
)
ORDER, EMAIL, NAME, CODE, REASON = range(5)


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("请提供您的订单号。", (ORDER,)),
        ("请问您的邮箱地址是什么？", (EMAIL,)),
        ("请告诉我您的姓名和邮编。", (NAME, CODE)),
        ("为了核实身份，需要您的姓名、邮箱和邮政编码。", (NAME, EMAIL, CODE)),
        ("能否提供一下订单编号？", (ORDER,)),
        ("请提供以下信息：\n1. 姓名\n2. 订单号", (NAME, ORDER)),
        ("您好！为了帮您处理，请提供：\n- 电子邮件地址\n- 邮编", (EMAIL, CODE)),
        ("请问退货的原因是什么？", (REASON,)),
        ("您为什么要退货？", (REASON,)),
        ("Could you please give me your order number?", (ORDER,)),
        ("没有找到这个订单。请再提供一次订单号。", (ORDER,)),
    ],
)
def test_a_question_in_chinese_or_english_asks_for_facts(
    personas: dict[str, PersonaType], message: str, facts: tuple[int, ...]
) -> None:
    heard = personas["chinese"].hears(message)
    assert understand(heard, SCRIPT.facts).facts == facts, heard


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ("我可以帮您办理退款，需要收取 5.00 手续费，可以吗？", "consent"),
        ("您同意吗？", "consent"),
        ("是否需要我为您取消？", "consent"),
        ("请问还有其他可以帮您的吗？", "finished"),
        ("祝您生活愉快，再见！", "finished"),
        ("退货已经为您办理好了。", "settled"),
        ("很抱歉，按照规定无法退货。", "settled"),
        ("请稍等，我查一下。", "waiting"),
        ("抱歉，没有找到 ORD-41 的记录。", "not_found"),
        ("系统里查不到这个订单。", "not_found"),
        ("您喜欢什么颜色？", "unknown"),
    ],
)
def test_what_else_a_bot_says_is_understood(
    personas: dict[str, PersonaType], message: str, what: str
) -> None:
    heard = personas["chinese"].hears(message)
    understood = understand(heard, SCRIPT.facts)
    assert getattr(understood, what), heard
    assert not understood.facts


def test_a_statement_asks_nothing(personas: dict[str, PersonaType]) -> None:
    for message in ("您的订单号是 ORD-4139。", "好的，我看到您的姓名了。", "我已记录您的邮箱。"):
        understood = understand(personas["chinese"].hears(message), SCRIPT.facts)
        assert not understood.facts
        assert not understood.consent


@pytest.mark.parametrize(("said", "right"), [("ORD-4139", True), ("ORD-4193", False)])
def test_a_value_that_is_read_back_is_confirmed_or_not(talk: Talk, said: str, right: bool) -> None:
    line = talk("chinese", SCRIPT, [f"您的订单号是 {said}，对吗？"])[1]
    assert line.text == ("对的。" if right else "不对。") + "\n订单号：ORD-4139"


def test_a_whole_conversation_is_in_chinese_with_the_values_as_they_are(talk: Talk) -> None:
    lines = talk(
        "chinese",
        SCRIPT,
        [
            "请提供您的订单号、姓名和邮编。",
            "退货原因是什么？",
            "需要手续费 5.00，可以吗？",
            "您喜欢什么颜色？",
            "请稍等。",
            "已经为您办理好了，还有其他需要吗？",
            "款项会在三天内退回。还有其他可以帮您的吗？",
        ],
    )
    assert lines[1].text == "订单号：ORD-4139\n姓名：Elena Whitfield\n邮政编码：37206"
    assert lines[1].facts_given == ("order number", "name", "postal code")
    assert "It does not fit." in lines[2].text
    assert lines[-1].text == "谢谢，没有别的事了。"
    assert lines[-1].done
    for line in lines[3:6]:
        assert not re.search(r"[A-Za-z]{2}", line.text), line.text
    assert lines[0].text.endswith(SCRIPT.opening)
    assert lines[6].text.endswith(SCRIPT.follow_ups[0])


def test_texts_of_a_task_are_said_in_the_chinese_that_is_given(talk: Talk) -> None:
    texts = {SCRIPT.opening: "请把退货标签寄给我。", SCRIPT.follow_ups[0]: "钱什么时候到账？"}
    lines = talk("chinese", SCRIPT, ["已经寄出了。"], texts=texts)
    assert [line.text for line in lines] == list(texts.values())


def test_a_given_text_that_would_lose_or_add_a_fact_is_not_said(talk: Talk) -> None:
    texts = {SCRIPT.opening: "请处理订单 ORD-4139。"}
    assert talk("chinese", SCRIPT, [], texts=texts)[0].text.endswith(SCRIPT.opening)


def test_every_sentence_of_the_scripted_customer_has_its_chinese(personas: dict[str, PersonaType]) -> None:
    from assay_personas.chinese_words import SENTENCES

    said = {
        text
        for name, value in vars(scripted).items()
        if name in {"_YES", "_ACCEPT", "_REFUSE", "_INSIST", "_NO_IDEA", "_THE_REST", "_EITHER", "_WAIT",
                    "_IS_IT_DONE", "_LEAVE", "_ENOUGH"}
        for text in ((value,) if isinstance(value, str) else value)
    }  # fmt: skip
    assert len(said) > 20
    assert said <= SENTENCES.keys()


def test_the_audit_of_a_models_lines_understands_chinese_questions_too(
    personas: dict[str, PersonaType],
) -> None:
    kind = personas["chinese"]
    role = kind.build(kind.options(), 1).begin(SCRIPT)
    said = UserLine("订单号是 ORD-4139。")
    for message, right in (("请提供您的订单号。", True), ("请提供您的姓名。", False)):
        scene = Scene(role, kind.liberties, hears=kind.hears)
        scene.say(UserLine(role.script.opening))
        scene.hear(message)
        assert (audit(said, scene) == []) is right


def test_any_message_is_read_in_bounded_time(personas: dict[str, PersonaType]) -> None:
    for message in (
        "请" * 20_000,
        "想" * 10_000 + "吗",
        "要我" * 7_000,
        "A" * 20_000,
        "？\n" * 9_000,
        "已" * 20_000,
    ):
        assert isinstance(personas["chinese"].hears(message), str)
