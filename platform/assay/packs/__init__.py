"""A tenant's packs: immutable versions, and the tasks in them."""
