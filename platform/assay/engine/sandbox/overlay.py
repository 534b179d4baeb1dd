"""A task's rows on top of the world, kept as the pages of the image that they change.

A whole image for each task would cost the size of the world times the number of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.engine.sandbox.image import PAGE_SIZE


@dataclass(frozen=True, slots=True)
class Overlay:
    """`size` of the task's image in bytes; `pages`: (offset, bytes) where it differs from the base."""

    size: int
    pages: tuple[tuple[int, bytes], ...]

    @classmethod
    def nothing(cls, base: bytes) -> Overlay:
        return cls(len(base), ())

    @classmethod
    def between(cls, base: bytes, image: bytes) -> Overlay:
        """What has to be written over `base` to get `image`; neighbouring pages are one piece."""
        pages: list[tuple[int, bytes]] = []
        start: int | None = None
        for offset in range(0, len(image) + PAGE_SIZE, PAGE_SIZE):
            differs = offset < len(image) and image[offset : offset + PAGE_SIZE] != base[offset : offset + PAGE_SIZE]
            if differs and start is None:
                start = offset
            elif not differs and start is not None:
                pages.append((start, image[start:offset]))
                start = None
        return cls(len(image), tuple(pages))

    def applied(self, base: bytes) -> bytes | bytearray:
        """The task's image."""
        if not self.pages and self.size == len(base):
            return base
        image = bytearray(base)
        if self.size < len(image):
            del image[self.size :]
        for offset, piece in self.pages:
            image[offset : offset + len(piece)] = piece
        return image
