"""The endpoint and endpointslice controllers: the addresses of the pods that Services select."""
