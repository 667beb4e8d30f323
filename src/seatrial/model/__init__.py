"""The data model: quantities, selectors, patches, kinds, configuration. No I/O, no clock.

The room is a library of small values, so its modules are its face: each is imported by its own name. Its folders
(`apply`, `cel`, `patches`, `protobuf`) have faces of their own.
"""
