"""Where the parts of a pack stand, down to the line of a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.engine.packs.models import Pack, Source
from assay.engine.packs.yamls import Place


class Sources(Mapping[str, Source]):
    """Names ("task:ID", "tool:NAME", "comparison:TABLE") to the place where each begins.

    It also keeps the places inside of them for `locate`.
    """

    def __init__(self) -> None:
        self._sources: dict[str, Source] = {}
        self._places: dict[str, Place] = {}

    def note(self, name: str, source: Source, place: Place) -> None:
        """Remember a part; the first of a name counts."""
        self._sources.setdefault(name, source)
        self._places.setdefault(name, place)

    def inside(self, name: str, keys: tuple[str | int, ...]) -> Source:
        """The place of a value inside a part. Raises KeyError for a part that is not there."""
        source = self._sources[name]
        return Source(source.path, self._places[name].locate(keys)) if keys else source

    def __getitem__(self, name: str) -> Source:
        return self._sources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


def locate(pack: Pack, name: str, *keys: str | int) -> Source:
    """Where a value of the pack stands: `locate(pack, "task:LIB-1", "expected", "actions", 0, "args", "days")`.

    `name` is one of `pack.sources`; the keys go into it as in the file. What does not exist gives the
    innermost thing around it. Raises KeyError for an unknown name.
    """
    if isinstance(pack.sources, Sources):
        return pack.sources.inside(name, keys)
    return pack.sources[name]
