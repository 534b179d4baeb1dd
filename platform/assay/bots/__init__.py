"""The bots of a tenant and their immutable versions."""
