"""The NodeDeclaredFeatures plugin and its queueing hints."""
