import Proxy
import SyncCore

extension OperationState {
    /// The state in a person's words: those of the dashboard (`Public/words.js`).
    var word: String {
        switch self {
        case .queued: "queued"
        case .sending: "sending"
        case .waiting: "waiting"
        case .unknown: "server error, checking"
        case .conflict: "conflict"
        case .quarantined: "refused"
        case .done: "sent"
        case .discarded: "discarded"
        case .collapsed: "merged into another"
        }
    }
}

/// The states that a person names with commas: each by its word, or as the API has it.
struct StateNames {
    /// The names as the API has them.
    private(set) var codes: [String] = []

    /// Every name that is understood, the words first.
    static let all: [String] = {
        let words = OperationState.allCases.map(\.word) + ["all"]
        return words + OperationState.allCases.map(\.rawValue).filter { !words.contains($0) }
    }()

    /// Reads states; throws the sentence about the first that is none.
    init(_ text: String) throws(Unknown) {
        var rest = text.lowercased()[...]
        while true {
            // A word may have a comma itself.
            let name =
                Self.all.filter { Self.begins(rest, with: $0) }.max { $0.count < $1.count }
                ?? String(rest.prefix { $0 != "," })
            let state = OperationState.allCases.first { [$0.word, $0.rawValue].contains(name) }
            guard let code = name == "all" ? name : state?.rawValue else {
                throw Unknown(name: name.trimmed)
            }
            codes.append(code)
            rest = rest.dropFirst(name.count).trimmed[...]
            guard rest.first == "," else { return }
            rest = rest.dropFirst().trimmed[...]
        }
    }

    /// A name that is no state's.
    struct Unknown: Error {
        let name: String

        /// What a person should write instead.
        var sentence: String {
            let hint =
                NearestName.of(name, in: StateNames.all).map { "did you mean \"\($0)\"?" }
                ?? "known are \(StateNames.all.joined(separator: "; "))."
            return "--state must be states with commas: there is no state \"\(name)\"; \(hint)"
        }
    }

    /// Whether a text begins with a whole name: its end, or a comma, follows.
    private static func begins(_ text: Substring, with name: String) -> Bool {
        guard text.hasPrefix(name) else { return false }
        let rest = text.dropFirst(name.count).trimmed
        return rest.isEmpty || rest.hasPrefix(",")
    }
}

extension StringProtocol {
    /// The text without blanks around it.
    fileprivate var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
