// Shared test builders.
