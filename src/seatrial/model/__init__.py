"""What a thing IS: quantities, selectors, patches, kinds, configuration. No I/O, no clock."""
