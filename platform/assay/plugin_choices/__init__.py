"""Which plugins a company uses, and the options it gives them."""
