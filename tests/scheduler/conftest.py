"""Here so that tests in the folders below can import `scheduler_world`."""
