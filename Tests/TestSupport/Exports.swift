// Time that stands still, seeded numbers and the way to the backend without a socket are the
// simulator's, and everybody's who tests.
@_exported public import Simulator
