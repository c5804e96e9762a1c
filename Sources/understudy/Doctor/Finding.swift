import Proxy
import TablesProtocol

/// One thing that was looked at, and how it is.
struct Finding: Sendable, Hashable {
    /// How it is.
    enum State: String, Sendable, Hashable, CaseIterable {
        case ok
        /// It works, but the operator should know.
        case warning
        /// It does not work, or not as promised.
        case problem
    }

    /// What was looked at, in a word or two that never change.
    let check: String
    let state: State
    /// What was seen, in a sentence.
    let finding: String
    /// What to do about it, in a sentence; nil when there is nothing to do.
    var advice: String?

    /// All is well.
    static func ok(_ check: String, _ finding: String) -> Finding {
        Finding(check: check, state: .ok, finding: finding)
    }

    /// The operator should know.
    static func warning(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .warning, finding: finding, advice: advice)
    }

    /// It does not work.
    static func problem(_ check: String, _ finding: String, _ advice: String) -> Finding {
        Finding(check: check, state: .problem, finding: finding, advice: advice)
    }

    /// As the command writes it.
    var json: JSONValue {
        .members(
            ("check", .string(check)), ("state", .string(state.rawValue)),
            ("finding", .string(finding)), ("advice", .text(advice)))
    }
}
