"""OpenAPI documents of the kinds that a server offers."""

from seatrial.model.openapi.v3 import TYPE_META, group_versions, openapi_document
