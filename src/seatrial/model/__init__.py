"""The data model: quantities, selectors, patches, kinds, configuration. No I/O, no clock."""
