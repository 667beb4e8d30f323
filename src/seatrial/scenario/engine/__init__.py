"""The engine that plays a scenario: steps, operations, controllers, loop limits."""
