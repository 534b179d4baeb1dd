"""Runs: planned as trial rows, executed by workers that claim them."""
