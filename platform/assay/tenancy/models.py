"""Tenants and their host names. These rows live in the public schema only."""

from __future__ import annotations

from django.db import models
from django_tenants.models import DomainMixin, TenantMixin


class Tenant(TenantMixin):
    """A company. Made by services.create_tenant, which also makes its schema."""

    auto_create_schema = False

    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["schema_name"]

    def __str__(self) -> str:
        return self.name


class Domain(DomainMixin):
    """A host name that leads to a tenant, without a port, in lower case."""
