"""The REST API of a tenant, versioned under /api/v1/. It calls services and holds no rules of its own."""
