"""Programs outside this process as controllers of a scenario: their turns at the API server, and when they are idle."""
