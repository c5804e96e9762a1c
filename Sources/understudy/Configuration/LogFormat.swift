/// How the log is written.
enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// Text when a person reads it on a terminal, JSON otherwise.
    case auto
    /// A line for a person.
    case text
    /// A JSON object on each line.
    case json
}
