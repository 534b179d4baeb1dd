"""Requests to REST 2, and what its answers mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx

from assay_sdk import TicketSystemError, outgoing


class Client:
    """One Request Tracker, signed in with a token. Every error is a TicketSystemError with a sentence."""

    def __init__(self, base: str, token: str, timeout: float) -> None:
        self.base = base
        self._token = token
        self._timeout = timeout

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        return self._call("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return self._call("POST", path, content=json.dumps(body).encode())

    def _call(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, content: bytes | None = None
    ) -> Any:
        headers = {"authorization": f"token {self._token}", "accept": "application/json"}
        if content is not None:
            headers["content-type"] = "application/json"
        try:
            answer = outgoing.request(
                method,
                f"{self.base}/REST/2.0{path}",
                headers=headers,
                params=params,
                content=content,
                timeout=self._timeout,
            )
        except outgoing.TargetRefused as error:
            raise TicketSystemError(str(error), permanent=True) from error
        except httpx.HTTPError as error:
            said = str(error) or type(error).__name__
            raise TicketSystemError(
                f"Request Tracker at {self.base} does not answer: {said}.", permanent=False
            ) from error
        return self._read(answer)

    def _read(self, answer: outgoing.Response) -> Any:
        try:
            body = json.loads(answer.body)
        except ValueError:
            body = None
        if 200 <= answer.status < 300:
            if body is None:
                raise TicketSystemError(
                    f"What answers at {self.base} is not Request Tracker's REST 2 interface.", permanent=True
                )
            return body
        said = str(body.get("message", "")) if isinstance(body, dict) else ""
        if answer.status == 401:
            sentence = "Request Tracker does not accept the token; make another one and store it."
        elif 300 <= answer.status < 400:
            sentence = f"{self.base} answers with a redirect ({answer.status}); give its final address."
        else:
            sentence = f"Request Tracker answered {answer.status}: {said.strip()[:300] or 'no reason given'}."
        # A busy or broken server may work again; what it refuses now it will refuse again.
        raise TicketSystemError(sentence, permanent=answer.status < 500 and answer.status not in (408, 429))
