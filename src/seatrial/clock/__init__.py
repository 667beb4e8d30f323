"""When things HAPPEN: virtual time; real time is a subclass."""
