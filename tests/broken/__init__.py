"""The catalogue of broken and hostile submissions, each with what must come of it."""
