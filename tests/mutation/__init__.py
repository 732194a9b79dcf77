"""How sharp the tests of the exercises are: every solution changed in every small way, and judged."""
