"""The command line: pack authors and CI pipelines, without any database. Holds no logic of its own."""
