"""Assay: certifies AI support bots by what they did to the business database."""

__version__ = "0.1.0"
