"""Authorization: RBAC, or everything is allowed."""
