"""A real Request Tracker for tests: Debian's packages, a database of its own in a temporary folder, a loopback port.

Nothing of an installed Request Tracker is used but its programs: not its database, not its configuration.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SERVER = Path("/usr/share/request-tracker5/libexec/rt-server")
_LIBRARY = "/usr/share/request-tracker5/lib"
_SETUP = "rt-setup-database-5"
_PACKAGES = {"request-tracker5": _SERVER, "rt5-standalone": _SERVER.with_name("standalone_httpd")}

_CONFIGURATION = """
Set($rtname, 'assay.test');
Set($Organization, 'assay.test');
Set($DatabaseType, 'SQLite');
Set($DatabaseName, '{folder}/rt.db');
Set($WebDomain, '127.0.0.1');
Set($WebPort, {port});
Set($WebPath, '');
Set($WebBaseURL, 'http://127.0.0.1:{port}');
Set($LogToSyslog, undef);
Set($LogToFile, undef);
Set($LogToSTDERR, 'warning');
Set($MailCommand, 'testfile');
Set($MasonDataDir, '{folder}/mason');
Set($MasonSessionDir, '{folder}/sessions');
1;
"""
_CONTENT = r"""
use strict; use warnings;
use RT; RT::LoadConfig(); RT::Init();
sub must { my ($ok, $said) = @_; die "$said\n" unless $ok; return $ok }
my $queue = RT::Queue->new(RT->SystemUser);
must($queue->Create(Name => q{%(queue)s}, Description => 'What bots did wrong'));
my $root = RT::User->new(RT->SystemUser);
must($root->Load('root'));
my ($done, $why, $desk) = RT::AuthToken->new(RT->SystemUser)->Create(Owner => $root->Id, Description => 'At the desk');
die "$why\n" unless $done;
print "token $desk\n";
for my $made (['assay', qw(SeeQueue ShowTicket CreateTicket CommentOnTicket ModifyTicket)], ['guest', qw(SeeQueue ShowTicket)]) {
    my ($name, @rights) = @$made;
    my $user = RT::User->new(RT->SystemUser);
    must($user->Create(Name => $name, EmailAddress => "$name\@assay.test", Privileged => 1));
    must($user->PrincipalObj->GrantRight(Right => $_, Object => $queue)) for @rights;
    my $token = RT::AuthToken->new(RT->SystemUser);
    my ($ok, $said, $text) = $token->Create(Owner => $user->Id, Description => 'Assay');
    die "$said\n" unless $ok;
    print "token $text\n";
}
"""


def missing() -> str | None:
    """Why there is no Request Tracker here, as a sentence; None when there is one."""
    absent = [name for name, file in _PACKAGES.items() if not file.exists()]
    if not absent and not shutil.which(_SETUP, path=os.environ.get("PATH", "") + ":/usr/sbin"):
        absent = ["request-tracker5"]
    if not absent:
        done = subprocess.run(["perl", "-e", "use DBD::SQLite"], capture_output=True, timeout=60, check=False)
        absent = [] if done.returncode == 0 else ["rt5-db-sqlite"]
    return (
        f"Request Tracker 5 is not installed here (Debian packages: {', '.join(absent)})." if absent else None
    )


@dataclass
class RequestTracker:
    """A running one. `token` may make tickets in `queue`; `reader` may only see them; `desk` may do anything."""

    url: str
    queue: str
    token: str
    reader: str
    desk: str
    process: subprocess.Popen[bytes]
    log: Path

    def rest(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request to REST 2, as somebody at their desk would make it, without the plugin."""
        request = urllib.request.Request(
            f"{self.url}/REST/2.0{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.desk}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def ticket(self, number: str) -> Any:
        return self.rest("GET", f"/ticket/{number}")

    def resolve(self, number: str) -> None:
        self.rest("PUT", f"/ticket/{number}", {"Status": "resolved"})

    def texts(self, number: str) -> list[str]:
        """What was written into the ticket, oldest first."""
        history = self.rest("GET", f"/ticket/{number}/history?fields=Type&per_page=100")["items"]
        written = [item["id"] for item in history if item["Type"] in ("Create", "Comment")]
        texts = []
        for transaction in sorted(written, key=int):
            for link in self.rest("GET", f"/transaction/{transaction}/attachments")["items"]:
                attachment = self.rest("GET", f"/attachment/{link['id']}")
                if attachment.get("ContentType", "").startswith("text/plain"):
                    texts.append(_decoded(attachment["Content"]))
        return texts

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)


def start(folder: Path, queue: str = "Bots") -> RequestTracker:
    """Make the database and start the server. Takes some seconds. Raises RuntimeError with what it said."""
    port = _free_port()
    for name in ("conf.d", "mason", "sessions"):
        (folder / name).mkdir()
    configuration = folder / "RT_SiteConfig.pm"
    configuration.write_text(_CONFIGURATION.format(folder=folder, port=port))
    password = folder / "password"
    password.write_text("not-used-over-the-network-1")
    environment = {
        **os.environ,
        "PATH": os.environ.get("PATH", "") + ":/usr/sbin",
        "PERL5LIB": _LIBRARY,
        "RT_SITE_CONFIG": str(configuration),
        "RT_SITE_CONFIG_DIR": str(folder / "conf.d"),
    }
    _run(
        [_SETUP, "--action", "init", "--skip-create", "--force", "--root-password-file", str(password)],
        environment,
    )
    said = _run(["perl", "-e", _CONTENT % {"queue": queue}], environment)
    desk, token, reader = (
        line.removeprefix("token ") for line in said.splitlines() if line.startswith("token ")
    )
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(_SERVER), "--server", "Standalone", "--host", "127.0.0.1", "--port", str(port)],
            env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
    tracker = RequestTracker(f"http://127.0.0.1:{port}", queue, token, reader, desk, process, log)
    try:
        _wait_until_it_answers(tracker)
    except BaseException:
        tracker.stop()
        raise
    return tracker


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _wait_until_it_answers(tracker: RequestTracker, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            tracker.rest("GET", "/rt")
            return
        except (urllib.error.URLError, OSError) as error:
            if tracker.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"rt-server does not answer: {error}\n{tracker.log.read_text()}"
                ) from error
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _decoded(content: str) -> str:
    import base64

    return base64.b64decode(content).decode()
