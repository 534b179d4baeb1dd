"""Runs of the platform with reply rules that a model judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.accounts.secrets import set_secret
from assay.engine.packs.loader import read_files
from assay.engine.packs.zips import write_zip
from assay.packs.services import upload_pack
from assay.runs import finishing, services
from assay.runs.executor import Executor
from assay.runs.models import Evidence, Run, RunStatus
from assay_sdk import OptionsError
from tests.integration.models.conftest import LIBRARY
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_judge import always, honest
from tests.support.site import reference_bot

pytestmark = pytest.mark.usefixtures("quiet_broker", "library")
RULE = "    - {must_not: promise to waive the fee, phrases: [we will waive, will be waived]}\n"


@pytest.fixture
def quiet_broker(use_broker: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    use_broker("embedded")
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")


def run_with(server: OpenAIServer, **fields: Any) -> Run:
    files = read_files(LIBRARY)
    tasks = files["tasks/lending.yaml"].decode()
    assert RULE in tasks
    files["tasks/lending.yaml"] = tasks.replace(RULE, "    - {rubric: It names an amount.}\n").encode()
    files["pack.yaml"] = files["pack.yaml"].replace(b"version: 1.", b"version: 7.")
    run = services.plan_run(
        upload_pack(write_zip(files), by=None),
        reference_bot("faithful"),
        trials=2,
        seed=5,
        tasks=["LIB-FEE-001"],
        judge="litellm:openai/judge",
        judge_options={"base_url": server.base_url, "api_key": "secret:JUDGE"},
        **fields,
    )
    Executor(run, schema="acme").drain()
    finishing.finish_if_done(run.pk)
    run.refresh_from_db()
    return run


def test_a_judge_decides_with_the_companys_secret() -> None:
    set_secret("JUDGE", "sk-for-judges", by=None)
    with OpenAIServer(honest(lambda asked: "1.50" in asked.text)) as server:
        run = run_with(server, judge_votes=1)
        keys = {request.headers["authorization"] for request in server.requests}
    assert run.status == RunStatus.FINISHED and run.summary is not None
    assert (run.summary["passed"], run.summary["void"]) == (2, 0)
    assert keys == {"Bearer sk-for-judges"}
    assert run.manifest["judge"]["votes"] == 1
    assert "sk-for-judges" not in str(run.manifest)
    for evidence in Evidence.objects.filter(trial__run=run):
        (judged,) = evidence.verdict["judged"]
        assert (judged["true"], judged["votes"]) == (True, ["true"])


def test_a_judge_that_is_not_believed_voids_and_never_passes() -> None:
    set_secret("JUDGE", "sk-for-judges", by=None)
    with OpenAIServer(always("yes")) as server:
        run = run_with(server)
    assert run.summary is not None
    assert (run.summary["passed"], run.summary["failed"], run.summary["void"]) == (0, 0, 2)
    assert run.summary["voids"] == {"cannot_tell": 2}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"judge": "nobody:x"}, "nobody"),
        ({"judge_options": {"base_url": "http://example.org"}}, "no judge"),
        ({"judge": "litellm:openai/m", "judge_votes": 99}, "votes"),
    ],
)
def test_a_judge_that_cannot_be_built_plans_nothing(library: Any, fields: dict[str, Any], says: str) -> None:
    before = Run.objects.count()
    with pytest.raises(OptionsError, match=says):
        services.plan_run(library, reference_bot("faithful"), trials=1, **fields)
    assert Run.objects.count() == before
