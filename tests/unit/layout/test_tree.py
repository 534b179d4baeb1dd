"""What is in the repository: links that lead somewhere, and nothing that belongs to one machine only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = {"__pycache__", "node_modules", "dist", "build"}
TEXT = {
    ".py",
    ".md",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    ".json",
    ".html",
    ".css",
    ".js",
    ".sh",
    ".sql",
    ".csv",
    ".cfg",
    "",
}
# A folder of somebody's machine, and the hosts that packages are fetched from: which they are is the installer's affair.
PERSONAL = re.compile(r"""(?<![\w.~}])/(?:home|root|Users|work|farm)/[\w.-]""")
REGISTRY = re.compile(r"\b(?:pypi[.]org|pythonhosted[.]org|registry[.]npmjs[.]org|index-url)\b")


def files() -> Iterator[Path]:
    """The text files of the repository, without what git ignores."""
    for folder, inside, names in os.walk(ROOT):
        inside[:] = [
            d
            for d in inside
            if d not in LEFT_OUT and (not d.startswith(".") or d == ".ci") and not d.endswith(".egg-info")
        ]
        yield from (Path(folder, name) for name in names if Path(name).suffix in TEXT)


def texts() -> Iterator[tuple[Path, str]]:
    for path in files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # kept on purpose by a test of bad input


def test_no_file_names_a_folder_of_somebody_s_machine() -> None:
    found = [(str(p.relative_to(ROOT)), m[0]) for p, text in texts() for m in PERSONAL.finditer(text)]
    assert found == []


def test_no_file_names_a_package_registry() -> None:
    found = [
        (str(p.relative_to(ROOT)), m[0])
        for p, text in texts()
        if p != Path(__file__)
        for m in REGISTRY.finditer(text)
    ]
    assert found == []


def test_what_is_forbidden_would_be_noticed() -> None:
    assert PERSONAL.search("see " + "/home" + "/ada/assay")
    assert REGISTRY.search("https://" + "pypi" + ".org/simple")


def links(page: Path) -> Iterator[str]:
    """The relative targets of a page's Markdown links and images."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            yield target


PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "domain_packs").glob("*.md"),
        *ROOT.glob("plugins/*/*.md"),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{target} in {page.name}"
        if anchor and linked.suffix == ".md":
            assert anchor in headings(linked), f"{target} in {page.name}"


def headings(page: Path) -> set[str]:
    """The anchors of a page, as they are made from its headings."""
    lines = re.findall(r"^#+ +(.+?) *$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


def test_the_readme_leads_to_the_pages() -> None:
    assert len([t for t in links(ROOT / "README.md") if t.startswith("docs/")]) >= 8
