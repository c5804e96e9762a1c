public import Testing

extension Trait where Self == TimeLimitTrait {
    /// A time limit for a test that would otherwise wait for ever if its subject broke.
    ///
    /// The time counts from the test's start. If all tests start at once and share two cores, a test of a
    /// millisecond may finish a minute later.
    public static var ends: Self { .timeLimit(.minutes(5)) }
}
