"""Assembles a server process from the packages below: store, API, scheduler, controllers, scenarios, pages."""
