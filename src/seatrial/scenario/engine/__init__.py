"""The engine that runs a scenario: steps, operations, controllers, loop limits."""
