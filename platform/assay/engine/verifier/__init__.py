"""The verifier: a pack proves itself before anything is certified with it (docs/reference/verifier.md)."""

from assay.engine.verifier.verification import Verification, verify

__all__ = ["Verification", "verify"]
