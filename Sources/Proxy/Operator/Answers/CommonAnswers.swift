/// The answers of the operator API. The server makes them, the commands read them, and openapi.json describes
/// them by their members: the comment of a member is its description there. Members are sent in the order of
/// their declaration; one without a value is null, never absent.
package enum Answers {
    /// What an element of a list is.
    package typealias Part = Codable & Sendable & Hashable
}

extension Answers {
    /// The answer to a request after which there is nothing to say: an object without members.
    package struct Nothing: Codable, Sendable, Hashable {
        /// Makes it.
        package init() {}
    }
}
