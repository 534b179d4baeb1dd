from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assay.accounts import roles
from assay.engine.packs import PackError
from assay.packs import services, verifying
from assay.packs.models import Pack, PackVersion, TaskEntry, Verification
from assay.reports.verification import render_page
from assay.web.access import member, needs
from assay.web.forms import PackUploadForm, TaskForm
from assay.web.pages import REPORT_POLICY, storable, with_source
from assay.web.policy import clauses_named, policy_of

_VERSIONS = PackVersion.objects.select_related("pack", "verification").defer("bundle", "verification__report")


@needs(roles.VIEW)
@require_safe
def pack_list(request: HttpRequest) -> HttpResponse:
    versions = _VERSIONS.order_by("-id")
    packs = Pack.objects.prefetch_related(Prefetch("versions", versions))
    return render(request, "web/packs/list.html", {"packs": packs, "form": PackUploadForm()})


@needs(roles.EDIT_PACKS)
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """A pack that cannot be loaded is answered with every problem, its file and its line; nothing was stored then."""
    form = PackUploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return render(request, "web/packs/refused.html", {"form": form}, status=422)
    file = form.cleaned_data["file"]
    try:
        version = services.upload_pack(file.read(), by=member(request))
    except PackError as error:
        return render(
            request,
            "web/packs/refused.html",
            {"form": PackUploadForm(), "name": file.name, "problems": error.problems},
            status=422,
        )
    messages.success(request, f"{version} is ready: {version.task_count} tasks, {version.tool_count} tools.")
    return redirect("pack-version", version.pk)


@needs(roles.VIEW)
@require_safe
def version(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(_VERSIONS, pk=pk)
    tasks = found.tasks.order_by("task_id")
    words = request.GET.get("q", "").strip()
    if not storable(words):
        tasks = tasks.none()
    elif words:
        tasks = tasks.filter(
            Q(task_id__icontains=words)
            | Q(title__icontains=words)
            | Q(trap__icontains=words)
            | Q(clauses__icontains=words)
        )
    group = request.GET.get("group", "")
    if group:
        tasks = tasks.filter(group=group) if storable(group) else tasks.none()
    groups = found.tasks.order_by("group").values_list("group", flat=True).distinct()
    page = Paginator(tasks, 100).get_page(request.GET.get("page"))
    return render(
        request,
        "web/packs/version.html",
        {
            "version": found,
            "newest": _newer(found),
            "switched_off": found.tasks.filter(enabled=False).count(),
            "page": page,
            "groups": groups,
            "group": group,
            "words": words,
        },
    )


@needs(roles.VIEW)
@require_safe
def policy(request: HttpRequest, pk: int) -> HttpResponse:
    """The clauses of the policy, and the tasks that exercise each."""
    found = get_object_or_404(_VERSIONS, pk=pk)
    text, clauses = policy_of(found)
    tasks: dict[str, list[TaskEntry]] = {name: [] for name in clauses}
    for entry in found.tasks.only("pack_version", "task_id", "title", "clauses"):
        for name in entry.clauses:
            tasks.setdefault(name, []).append(entry)
    rows = [(clause, tasks[name]) for name, clause in clauses.items()]
    covered = sum(bool(of_it) for _, of_it in rows)
    return render(
        request,
        "web/packs/policy.html",
        {"version": found, "rows": rows, "covered": covered, "text": text},
    )


@needs(roles.VIEW)
@require_safe
def verification(request: HttpRequest, pk: int) -> HttpResponse:
    """Whether the verdicts of a version can be trusted: every finding with its file, line and task."""
    version = get_object_or_404(_VERSIONS, pk=pk)
    found = Verification.objects.filter(pack_version=version).first()
    problems = found.report["problems"] if found is not None and found.report else []
    page = Paginator(problems, 100).get_page(request.GET.get("page"))
    entries = dict(version.tasks.values_list("task_id", "pk"))
    page.object_list = [{**p, "entry": entries.get(p["task"])} for p in page.object_list]
    return render(
        request,
        "web/packs/verification.html",
        {"version": version, "found": found, "page": page, "newest": _newer(version)},
    )


@needs(roles.VIEW)
@require_safe
def verification_report(request: HttpRequest, pk: int) -> HttpResponse:
    """The verifier's whole report, as one page that opens without a network."""
    found = Verification.objects.filter(pack_version=pk, report__isnull=False).first()
    if found is None:
        raise Http404("This version has not been verified.")
    response = HttpResponse(render_page(found.report))
    response.headers["Content-Security-Policy"] = REPORT_POLICY
    return response


@needs(roles.EDIT_PACKS)
@require_POST
def verify_again(request: HttpRequest, pk: int) -> HttpResponse:
    verifying.verify_again(get_object_or_404(_VERSIONS, pk=pk), by=member(request))
    return redirect("pack-verification", pk)


@needs(roles.VIEW)
@require_safe
def download(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(PackVersion, pk=pk)
    name = f"{found.pack.name}-{found.version}.zip"
    return HttpResponse(
        bytes(found.bundle),
        content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@needs(roles.VIEW, to_post=roles.EDIT_PACKS)
def task(request: HttpRequest, pk: int) -> HttpResponse:
    """Read a task; edit it as a new version of the pack."""
    entry = get_object_or_404(TaskEntry.objects.select_related("pack_version__pack"), pk=pk)
    form = TaskForm(request.POST or None, initial={"yaml": entry.yaml})
    problems: list[object] = []
    if request.method == "POST" and form.is_valid():
        try:
            made = services.edit_task(
                entry.pack_version, entry.task_id, form.cleaned_data["yaml"], by=member(request)
            )
        except PackError as error:
            problems = with_source(error.problems, entry, form.cleaned_data["yaml"])
        else:
            if made == entry.pack_version:
                messages.info(request, "Nothing was changed, so there is no new version.")
            else:
                messages.success(request, f"{entry.task_id} is changed in the new version {made}.")
            return redirect("task", made.tasks.get(task_id=entry.task_id).pk)
    version = entry.pack_version
    return render(
        request,
        "web/packs/task.html",
        {
            "entry": entry,
            "form": form,
            "problems": problems,
            "newest": _newer(version),
            "clauses": clauses_named(version, entry.clauses),
        },
        status=422 if problems or form.errors else 200,
    )


@needs(roles.EDIT_PACKS)
@require_POST
def switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a task on or off for new runs: its row for htmx, otherwise back to its page."""
    entry = get_object_or_404(TaskEntry, pk=pk)
    entry = services.set_enabled(entry, request.POST.get("enabled") == "1", by=member(request))
    if request.headers.get("HX-Request"):
        return render(request, "web/packs/_task_row.html", {"task": entry})
    messages.success(
        request,
        f"{entry.task_id} is {'on' if entry.enabled else 'off'}: new runs {'take it' if entry.enabled else 'leave it out'}.",
    )
    return redirect("task", entry.pk)


def _newer(version: PackVersion) -> PackVersion | None:
    """The pack's newest version, if that is another one."""
    return (
        version.pack.versions.select_related("pack")
        .defer("bundle")
        .filter(pk__gt=version.pk)
        .order_by("-pk")
        .first()
    )
