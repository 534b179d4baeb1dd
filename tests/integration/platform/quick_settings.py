"""The settings of workers in tests: leases and sweeps that a test need not wait a minute for."""

from __future__ import annotations

from assay.config.settings import *  # noqa: F403 (settings are all of them)

ASSAY_LEASE_SECONDS = 4
ASSAY_SWEEP_SECONDS = 0.5
