"""People, their roles, tokens and secrets, and the audit trail. In every schema, and never across schemas."""
