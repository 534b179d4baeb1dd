"""Companies, each with a Postgres schema and a host name of its own."""
