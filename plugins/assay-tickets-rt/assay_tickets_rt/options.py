from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator


class RtOptions(BaseModel):
    """Where the tickets go. `token` is a reference to the secret, never the token itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(description="Address of Request Tracker, without /REST: https://rt.example.com")
    queue: str = Field(min_length=1, max_length=200, description="Name of the queue for new tickets.")
    token: str = Field(description="Reference to an authentication token of Request Tracker.")
    requestor: str = Field(default="", max_length=254, description="Address of the requestor of new tickets.")
    timeout: float = Field(default=20.0, gt=0, le=120, description="Seconds for one request.")

    @field_validator("url")
    @classmethod
    def _base(cls, url: str) -> str:
        url = url.strip().rstrip("/").removesuffix("/REST/2.0")
        if not url.startswith(("https://", "http://")):
            raise ValueError("must start with https:// (or http://)")
        return url
