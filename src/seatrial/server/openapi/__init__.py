"""OpenAPI documents, version 2 and version 3."""
