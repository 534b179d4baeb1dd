"""Reliability reports: the same data as a page that opens without a network, and as a table in a terminal."""

from assay.reports.data import ReportData
from assay.reports.render import render_report
from assay.reports.text import print_summary

__all__ = ["ReportData", "print_summary", "render_report"]
