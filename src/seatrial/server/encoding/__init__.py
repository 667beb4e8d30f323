"""Encodings of requests and responses: JSON, YAML, protobuf, tables, versions."""
