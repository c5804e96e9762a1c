import Proxy

/// A setting that cannot be used: where it stands, what it says, what is allowed.
struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The flag or variable.
    let place: String
    /// What it says.
    let value: String
    /// What it may say.
    let allowed: String

    /// One sentence.
    var description: String { "\(place) is \"\(value)\", but must be \(allowed)." }

    /// As a reason not to start.
    var startProblem: StartProblem { StartProblem(description, .usage) }
}
