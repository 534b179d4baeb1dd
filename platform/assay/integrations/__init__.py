"""What leaves the platform when a run is finished: signed webhooks and tickets, each delivery a row first."""
