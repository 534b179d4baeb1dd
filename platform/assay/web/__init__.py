"""The site for people: pages over the services."""
