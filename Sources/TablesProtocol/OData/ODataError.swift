/// Why a query cannot be understood or cannot be sent on; answered with status 400.
public struct ODataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The option's name as it was sent (`$filter`); empty for the query string as a whole.
    public let option: String
    /// One sentence without its final stop, for a person.
    public let reason: String
    /// Where it went wrong: an offset in UTF-8 bytes into the option's decoded value.
    public let position: Int

    /// An error at a byte of an option.
    public init(option: String, reason: String, position: Int) {
        self.option = option
        self.reason = reason
        self.position = position
    }

    /// The reason and its place in one line.
    public var description: String {
        option.isEmpty
            ? "\(reason) (at index \(position))" : "\(option): \(reason) (at index \(position))"
    }
}
