"""Did the bot say a value that belongs to another customer, or that no customer may be told?"""

from assay.engine.grading.leaks.check import LEAK, check_leaks

__all__ = ["LEAK", "check_leaks"]
