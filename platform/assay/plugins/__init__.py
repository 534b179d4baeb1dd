"""Plugins: found, checked and asked for what they bring. See docs/reference/plugins.md."""
