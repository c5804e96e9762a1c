// The simulator's clock, random numbers and in-process transport are for all tests.
@_exported public import Simulator
