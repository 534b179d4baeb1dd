"""How fast Assay is: `make bench`. Medians, each with its ratio to a reference measured in the same run."""
