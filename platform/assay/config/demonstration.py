"""What the demo sets up and shows: two companies, a pack, two reference bots, their runs and reports."""

from __future__ import annotations

import fnmatch
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from rich.console import RenderableType

from assay.accounts.models import User
from assay.accounts.services import create_user, set_password
from assay.bots import services as bots
from assay.bots.models import Bot, BotVersion
from assay.packs.models import PackVersion
from assay.packs.services import upload_pack
from assay.reports.services import render_report
from assay.reports.text import text_table
from assay.runs.models import ACTIVE, Run, RunStatus
from assay.runs.services import plan_run
from assay.tenancy.models import Tenant
from assay.tenancy.services import create_operator, create_tenant, in_tenant

_COMPANIES = (("Acme", "acme", "localhost"), ("Globex", "globex", "globex.localhost"))
# Named as synthetic wherever they appear: they read the task's expected actions.
_FAITHFUL = ("Faithful (synthetic reference)", "reference:faithful")
_CARELESS = ("Careless (synthetic reference)", "reference:careless")
_OPERATOR = "public"  # the key of the operator's password beside those of the schemas


@dataclass(frozen=True, slots=True)
class SignIn:
    company: str
    host: str
    email: str
    password: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A run of the demo. `carried_on`: an earlier demo planned it and was interrupted. `certifies`: its tables are
    what the demo is about; the other company's short run shows that the same workers serve it as well."""

    company: str
    schema: str
    title: str
    run: Run
    carried_on: bool
    certifies: bool

    @property
    def key(self) -> str:
        return f"{self.schema}-{self.run.pk}"


def companies() -> list[SignIn]:
    """The two companies with one user each, made if they are not there. Passwords are drawn once and kept in a file."""
    return [_company(*c) for c in _COMPANIES]


@dataclass(frozen=True, slots=True)
class _Wish:
    """A run that the demo wants, and the latest one like it, if there is one that was not cancelled."""

    company: str
    schema: str
    title: str
    version: PackVersion
    bot: BotVersion
    trials: int
    owner: User | None
    latest: Run | None


def plan(pack: Path, *, trials: int, tasks: str | None, seed: int) -> list[Planned]:
    """Load the pack into both companies and plan the runs. When an earlier demo with the same wishes was interrupted,
    so that one of its runs is still open, all of its runs are taken instead, those that it finished included."""
    wishes = _wishes(pack, trials, tasks, seed)
    interrupted = any(w.latest is not None and w.latest.status in ACTIVE for w in wishes)
    planned = []
    for w in wishes:
        with in_tenant(w.schema):
            left = w.latest if interrupted else None
            run = left or plan_run(w.version, w.bot, trials=w.trials, tasks=tasks, seed=seed, by=w.owner)
        certifies = w.schema == _COMPANIES[0][1]
        planned.append(Planned(w.company, w.schema, w.title, run, left is not None, certifies))
    return planned


def _wishes(pack: Path, trials: int, tasks: str | None, seed: int) -> list[_Wish]:
    wishes = []
    for (company, schema, _), bots_and_trials in zip(
        _COMPANIES, (((_FAITHFUL, trials), (_CARELESS, trials)), ((_CARELESS, 1),)), strict=True
    ):
        with in_tenant(schema):
            owner = User.objects.filter(role="owner").first()
            version = upload_pack(pack, by=owner)
            for (name, spec), n in bots_and_trials:
                bot = _bot(name, spec, owner)
                latest = _latest(version, bot, n, seed, tasks)
                wishes.append(_Wish(company, schema, name, version, bot, n, owner, latest))
    return wishes


def operator() -> SignIn:
    """Who manages the companies, made if not there."""
    email, passwords = "operator@assay.example", _passwords()
    user = User.objects.filter(email=email).first()
    if user is None or _OPERATOR not in passwords:
        passwords[_OPERATOR] = _draw()
        if user is None:
            create_operator(email=email, password=passwords[_OPERATOR])
        else:
            set_password(user, passwords[_OPERATOR], by=None)
        _keep(passwords)
    return SignIn("Operators", "http://admin.localhost:8000", email, passwords[_OPERATOR])


def results(planned: Planned) -> tuple[Run, RenderableType, Path]:
    """A finished run, its tables, and the path of its report, which is written now."""
    with in_tenant(planned.schema):
        run = Run.objects.select_related("pack_version__pack", "bot_version__bot").get(pk=planned.run.pk)
        folder = Path(settings.STATE_DIR) / "reports"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{planned.schema}-run-{run.pk}.html"
        path.write_text(render_report(run), encoding="utf-8")
        return run, text_table(run.summary or {}), path


def _company(name: str, schema: str, host: str) -> SignIn:
    email = f"owner@{schema}.example"
    passwords = _passwords()
    if not Tenant.objects.filter(schema_name=schema).exists():
        create_tenant(
            name=name,
            schema=schema,
            host=host,
            owner_email=email,
            owner_password=passwords.setdefault(schema, _draw()),
        )
        _keep(passwords)
    elif schema not in passwords:
        # The database outlived the file: give the owner a new password rather than print one that does not work.
        passwords[schema] = _draw()
        with in_tenant(schema):
            owner = User.objects.filter(email=email).first()
            if owner is None:
                create_user(email=email, password=passwords[schema], role="owner")
            else:
                set_password(owner, passwords[schema], by=None)
        _keep(passwords)
    return SignIn(name, f"http://{host}:8000", email, passwords[schema])


def _latest(version: PackVersion, bot: BotVersion, trials: int, seed: int, tasks: str | None) -> Run | None:
    wanted = set(version.tasks.filter(enabled=True).values_list("task_id", flat=True))
    wanted = {t for t in wanted if tasks is None or fnmatch.fnmatchcase(t, tasks)}
    like_it = Run.objects.filter(
        pack_version=version, bot_version=bot, trials_per_task=trials, seed=seed,
        status__in=[*ACTIVE, RunStatus.FINISHED],
    ).order_by("-id")  # fmt: skip
    return next((run for run in like_it[:20] if set(run.task_ids) == wanted), None)


def _bot(name: str, spec: str, owner: User | None) -> BotVersion:
    bot = Bot.objects.filter(name=name).first()
    if bot is None:
        return bots.create_bot(
            name, spec=spec, description="Synthetic: it reads the task's expected actions.", by=owner
        )
    return bots.add_version(bot, spec=spec, by=owner)


def _file() -> Path:
    return Path(settings.STATE_DIR) / "demo-passwords.json"


def _passwords() -> dict[str, str]:
    try:
        return dict(json.loads(_file().read_text()))
    except (FileNotFoundError, ValueError):
        return {}


def _keep(passwords: dict[str, str]) -> None:
    _file().parent.mkdir(parents=True, exist_ok=True)
    _file().touch(mode=0o600)
    _file().write_text(json.dumps(passwords))


def _draw() -> str:
    return secrets.token_urlsafe(9)
