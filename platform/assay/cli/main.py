"""The `assay` command. Everything heavy is imported inside the commands: `assay --help` must answer at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay import __version__
from assay.cli import errors
from assay.cli.codes import INTERRUPTED, OK, PROBLEMS, USAGE

_FOLDER = click.Path(path_type=Path)
_json = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document on standard output and nothing else there.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", message="assay %(version)s")
def cli() -> None:
    """Certify AI support bots by what they did to the business database, not by what they said."""


@cli.command("run")
@click.argument("pack", type=_FOLDER)
@click.option(
    "--bot",
    "spec",
    required=True,
    metavar="SPEC",
    help="Which bot: CONNECTOR:TARGET, e.g. reference:faithful, litellm:MODEL.",
)
@click.option(
    "--trials", default=20, show_default=True, type=click.IntRange(1, 1000), help="Trials of each task."
)
@click.option(
    "--tasks",
    multiple=True,
    metavar="GLOB",
    help="Only tasks whose id matches, e.g. 'RET-RMA-*'. May be repeated.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), help="The same seed gives the same run. Default: a new one."
)
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 64), help="Processes.")
@click.option(
    "--at-once",
    default=8,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Trials at the same time in each process.",
)
@click.option(
    "--max-attempts",
    default=3,
    show_default=True,
    type=click.IntRange(1, 10),
    help="Attempts at a trial that a platform fault makes void.",
)
@click.option(
    "--out",
    type=_FOLDER,
    help="Folder for the results. One that holds part of the same run is continued. Default: a new folder in assay-results/.",
)
@_json
@click.option(
    "--gate",
    metavar="GATE",
    help="What must be shown, e.g. 'pass^5>=0.9', 'pass^5>=0.9 in every group', or with other checks "
    "'pass^5>=0.9 and check:communication.promises>=0.95'. Not met: exit code 1.",
)
@click.option("--base-url", help="Where the bot's model answers.")
@click.option(
    "--api-key", metavar="env:NAME", help="The environment variable that holds the key. Never the key itself."
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="K=V",
    help="A parameter of the bot's model, e.g. temperature=0.2. May be repeated.",
)
@click.option(
    "--bot-option",
    "bot_options",
    multiple=True,
    metavar="K=V",
    help="Any other option of the connector. May be repeated.",
)
@click.option("--persona", metavar="NAME", help="How the simulated customer talks.")
@click.option(
    "--persona-option",
    "persona_options",
    multiple=True,
    metavar="K=V",
    help="An option of the persona. May be repeated.",
)
@click.option(
    "--user",
    default="scripted",
    show_default=True,
    metavar="SPEC",
    help="Who plays the customer: scripted, or a model, e.g. litellm:MODEL.",
)
@click.option(
    "--user-option",
    "user_options",
    multiple=True,
    metavar="K=V",
    help="An option of the user's model, or tries, audit_model, audit_options. May be repeated.",
)
@click.option(
    "--faults",
    metavar="PROFILE",
    help="Let tool calls go wrong on purpose: flaky, slow, stale, harsh, or what a plugin brings.",
)
@click.option(
    "--fault-option",
    "fault_options",
    multiple=True,
    metavar="K=V",
    help="An option of the fault profile, e.g. rate=0.3. May be repeated.",
)
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="NAME",
    help="An additional check, reported only. May be repeated.",
)
@click.option(
    "--require-check",
    "required_checks",
    multiple=True,
    metavar="NAME",
    help="An additional check that a trial must pass. May be repeated.",
)
@click.option(
    "--judge",
    metavar="SPEC",
    help="The model that judges reply rules which need one, e.g. litellm:MODEL. Without it they void the trial.",
)
@click.option(
    "--judge-option",
    "judge_options",
    multiple=True,
    metavar="K=V",
    help="An option of the judge's model. May be repeated.",
)
@click.option(
    "--judge-votes",
    default=3,
    show_default=True,
    type=click.IntRange(1, 15),
    help="How often the judge is asked about each rule, both ways round.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="K=V",
    help="A limit of a conversation: turns, tool_calls, seconds or tokens. May be repeated.",
)
def run_command(**given: Any) -> int:
    """Try every task of PACK (a folder or a zip) many times with a bot, and report how reliable it is."""
    from assay.cli.running import run

    return run(**given)


@cli.command("report")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@click.option(
    "--html", type=_FOLDER, metavar="FILE", help="Write the report as one HTML file that needs no network."
)
@_json
def report_command(folder: Path, html: Path | None, as_json: bool) -> int:
    """Report on the results in DIR, also of a run that is not finished."""
    from assay.cli.reporting import report

    return report(folder, html, as_json)


@cli.command("regrade")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@click.option(
    "--pack", required=True, type=_FOLDER, help="The version of the pack to judge by: a folder or a zip."
)
@click.option(
    "--old-pack",
    type=_FOLDER,
    help="The version that the run was made on, to see as well whether its customers were others.",
)
@click.option("--out", type=_FOLDER, metavar="DIR", help="Write the new results to this new folder.")
@_json
def regrade_command(folder: Path, pack: Path, old_pack: Path | None, out: Path | None, as_json: bool) -> int:
    """Judge the trials in DIR again under another version of their pack, without talking to the bot."""
    from assay.cli.regrading import regrade

    return regrade(folder, pack, old_pack, out, as_json)


@cli.command("fork")
@click.argument("folder", metavar="DIR", type=_FOLDER)
@click.argument("place", metavar="TASK/INDEX")
@click.option(
    "--pack", required=True, type=_FOLDER, help="The pack of the run, the same version: a folder or a zip."
)
@click.option(
    "--turn",
    required=True,
    type=click.IntRange(1, 1000),
    help="The bot's reply, from 1, from which on the conversation is held anew.",
)
@click.option(
    "--trials",
    default=20,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="Continuations on each side.",
)
@click.option("--bot", "spec", metavar="SPEC", help="Go on with another bot as well.")
@click.option("--base-url", help="With --bot: where its model answers.")
@click.option(
    "--api-key", metavar="env:NAME", help="With --bot: the environment variable that holds the key."
)
@click.option("--param", "params", multiple=True, metavar="K=V", help="With --bot: a parameter of its model.")
@click.option(
    "--bot-option", "bot_options", multiple=True, metavar="K=V", help="With --bot: any other option of it."
)
@click.option("--persona", metavar="NAME", help="Go on with a customer of another manner as well.")
@click.option(
    "--persona-option", "persona_options", multiple=True, metavar="K=V", help="An option of the persona."
)
@click.option("--say", metavar="TEXT", help="Go on from another line of the customer as well.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="The same seed gives the same continuations. Default: a new one.",
)
@click.option(
    "--at-once", default=8, show_default=True, type=click.IntRange(1, 500), help="At the same time."
)
@click.option("--out", type=_FOLDER, metavar="DIR", help="Write the continuations to new folders in here.")
@_json
def fork_command(**given: Any) -> int:
    """Take up a trial in DIR at one of the bot's replies, many times: was it the bot, the user, or luck?"""
    from assay.cli.forking import fork

    return fork(**given)


@cli.group("export")
def export_group() -> None:
    """Hand the trials of a run to other programs."""


@export_group.command("rewards")
@click.argument("folder", metavar="DIR", type=_FOLDER, required=False)
@click.option("--out", type=_FOLDER, metavar="FILE", help="Write to this file and not to standard output.")
@click.option("--void", is_flag=True, help="Void trials too, as far as they came.")
@click.option("--tools", is_flag=True, help="The tools' schemas in every line, not only in the first.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of a line and nothing else.")
def export_rewards(folder: Path | None, out: Path | None, void: bool, tools: bool, schema: bool) -> int:
    """Write the trials in DIR as JSON lines: rewards of every check, messages in the OpenAI chat format."""
    from assay.cli.exporting import rewards, rewards_schema

    if schema:
        return rewards_schema()
    if folder is None:
        raise click.UsageError("Name the folder of results, or ask for --schema.")
    return rewards(folder, out, void=void, tools=tools)


@cli.group("pack")
def pack_group() -> None:
    """Write, check, try and look at domain packs."""


@pack_group.command("show")
@click.argument("pack", type=_FOLDER)
@_json
def pack_show(pack: Path, as_json: bool) -> int:
    """Show what PACK (a folder or a zip) holds."""
    from assay.cli.packs import show

    return show(pack, as_json)


@pack_group.command("lint")
@click.argument("pack", type=_FOLDER)
@_json
def pack_lint(pack: Path, as_json: bool) -> int:
    """Check PACK (a folder or a zip) and list every problem with file and line."""
    from assay.cli.packs import lint

    return lint(pack, as_json)


@pack_group.command("new")
@click.argument("name")
@click.option(
    "--into", type=_FOLDER, default=".", show_default="here", metavar="DIR", help="Where to make its folder."
)
def pack_new(name: str, into: Path) -> int:
    """Lay out a new pack: a small commented example that verifies, to put your own in place of."""
    from assay.cli.beginning import new

    return new(name, into)


@pack_group.command("try")
@click.argument("pack", type=_FOLDER)
@click.argument("task_id", metavar="TASK")
@click.option(
    "--as",
    "role",
    type=click.Choice(["bot", "user"]),
    default="bot",
    show_default=True,
    help="Whom you play: the bot, or the customer of the bot that --bot names.",
)
@click.option("--bot", "spec", metavar="SPEC", help="With --as user: which bot, e.g. reference:faithful.")
@click.option("--show-calls", is_flag=True, help="With --as user: show what the bot calls and gets.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    help="The same seed and words give the same conversation with a scripted customer or a reference bot.",
)
@_json
@click.option("--base-url", help="Where the bot's model answers.")
@click.option(
    "--api-key", metavar="env:NAME", help="The environment variable that holds the key. Never the key itself."
)
@click.option("--param", "params", multiple=True, metavar="K=V", help="A parameter of the bot's model.")
@click.option(
    "--bot-option", "bot_options", multiple=True, metavar="K=V", help="Any other option of the connector."
)
@click.option("--persona", metavar="NAME", help="How the simulated customer talks.")
@click.option(
    "--persona-option",
    "persona_options",
    multiple=True,
    metavar="K=V",
    help="An option of the persona. May be repeated.",
)
@click.option(
    "--user",
    default="scripted",
    show_default=True,
    metavar="SPEC",
    help="Who plays the customer: scripted, or a model, e.g. litellm:MODEL.",
)
@click.option(
    "--user-option",
    "user_options",
    multiple=True,
    metavar="K=V",
    help="An option of the user's model, or tries, audit_model, audit_options. May be repeated.",
)
def pack_try(role: str, **given: Any) -> int:
    """Play the bot in TASK of PACK: talk to the customer, call tools, see the verdict. Or play the customer."""
    from assay.cli.trying import try_task

    return try_task(as_user=role == "user", **given)


@pack_group.command("schema")
@click.argument(
    "kind", required=False, type=click.Choice(["pack", "tools", "tasks", "comparison", "checks", "seed"])
)
@click.option(
    "--out", type=_FOLDER, metavar="DIR", help="Write KIND.json there, or without KIND all of them."
)
def pack_schema(kind: str | None, out: Path | None) -> int:
    """Print the JSON Schema of a KIND of file, by which editors complete and check while you type."""
    from assay.cli.schemas import schema

    return schema(kind, out)


@pack_group.command("verify")
@click.argument("pack", type=_FOLDER)
@_json
@click.option(
    "--task",
    "--tasks",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only tasks whose id matches, e.g. 'RET-RMA-*'. May be repeated.",
)
@click.option(
    "--seconds",
    default=600.0,
    show_default=True,
    type=click.FloatRange(1, 86_400),
    help="When this time is over, verification ends, and that is a finding.",
)
@click.option(
    "--html",
    type=_FOLDER,
    metavar="FILE",
    help="Write what was found as one HTML file that needs no network.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=lambda: min(8, os.cpu_count() or 1),
    show_default="one for each processor, 8 at most",
    help="Processes; what is found does not depend on it.",
)
def pack_verify(
    pack: Path, as_json: bool, globs: tuple[str, ...], seconds: float, html: Path | None, jobs: int
) -> int:
    """Let PACK (a folder or a zip) prove that its verdicts can be trusted."""
    from assay.cli.verifying import verify_pack

    return verify_pack(pack, as_json, globs, seconds, html, jobs)


@cli.group("plugins")
def plugins_group() -> None:
    """Look at plugins."""


@plugins_group.command("list")
@_json
def plugins_list(as_json: bool) -> int:
    """List the installed plugins, what they bring, and what could not be loaded."""
    from assay.cli.plugins import list_plugins

    return list_plugins(as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of `assay`."""
    # Whoever types the command chose the model's address; a model on the same machine is the usual case. What a
    # tenant of the platform asks for is another matter (assay_sdk.outgoing).
    os.environ.setdefault("ASSAY_ALLOW_PRIVATE_TARGETS", "1")
    sys.exit(execute(arguments))


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code. Every expected error becomes a sentence on standard error."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = bool(os.environ.get("ASSAY_DEBUG"))
    errors.log_in_one_line(tracebacks=debug)
    try:
        code = cli.main(args=arguments, prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else OK
    except click.UsageError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        error.show()
        return PROBLEMS
    except (click.Abort, KeyboardInterrupt):
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough (`assay ... | head`); the exit must not try to flush it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PROBLEMS
    except Exception as error:  # the last resort; what it does not know it shows in short
        if debug:
            raise
        return errors.show(error, as_json="--json" in arguments)


if __name__ == "__main__":
    main()
