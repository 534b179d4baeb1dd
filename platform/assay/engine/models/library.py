"""litellm, loaded when it is first needed and kept quiet.

It takes seconds to import and would fetch a price list while it does; neither `assay --help` nor a run of another
bot pays for that.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import weakref
from typing import Any

log = logging.getLogger(__name__)

_loading = threading.Lock()
_module: Any = None
# How many models use the HTTP clients that litellm keeps for an event loop.
_users: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int] = weakref.WeakKeyDictionary()


def load() -> Any:
    """The litellm module. Blocks for seconds the first time; see `loaded` for use in a coroutine."""
    global _module  # noqa: PLW0603 (one library for the process)
    with _loading:
        if _module is not None:
            return _module
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.turn_off_message_logging = True
        # Its aiohttp sessions outlive their event loop; httpx closes in order.
        litellm.disable_aiohttp_transport = True
        for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
            # At lower levels it writes whole prompts.
            logging.getLogger(name).setLevel(logging.ERROR)
        _module = litellm
        return litellm


async def loaded() -> Any:
    """The litellm module, imported in a thread so that other conversations go on."""
    return _module or await asyncio.to_thread(load)


def use_clients() -> None:
    """Say that a model of this event loop needs litellm's HTTP clients, until `release_clients`."""
    loop = asyncio.get_running_loop()
    _users[loop] = _users.get(loop, 0) + 1


async def release_clients() -> None:
    """Close the HTTP clients of this event loop once no model needs them; litellm would leave them open."""
    loop = asyncio.get_running_loop()
    left = _users.get(loop, 0) - 1
    if left > 0:
        _users[loop] = left
        return
    _users.pop(loop, None)
    import litellm
    from litellm.caching.evicted_client_closer import running_loop_token

    cache = litellm.in_memory_llm_clients_cache
    token = f"-{running_loop_token()}"
    for key in [key for key in cache.cache_dict if key.endswith(token)]:
        client = cache.cache_dict.pop(key)
        cache.ttl_dict.pop(key, None)
        close = getattr(client, "close", None) or getattr(client, "aclose", None)
        try:
            if close is not None:
                await asyncio.wait_for(close(), 5)
        except Exception:
            log.warning("an HTTP client of litellm did not close", exc_info=True)
