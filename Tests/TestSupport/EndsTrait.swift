public import Testing

extension Trait where Self == TimeLimitTrait {
    /// For a test that would wait for ever if what it tests broke.
    ///
    /// The time counts from the test's start, and where all tests of a run start at once and share two
    /// cores, what takes a millisecond by itself may end a minute later.
    public static var ends: Self { .timeLimit(.minutes(5)) }
}
