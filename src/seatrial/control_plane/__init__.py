"""Assembles a server process from the rooms below: store, API, scheduler, controllers, scenarios, pages."""
