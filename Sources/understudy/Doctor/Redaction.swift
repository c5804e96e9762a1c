import TablesProtocol

/// Takes out of a support bundle what is private.
struct Redaction: Sendable {
    /// The keys of users, which become numbers.
    let identities: [String]
    /// The home folder, whose name is often a person's.
    let home: String?

    /// Members of an operation that say nothing of its contents.
    private static let harmless: Set<String> = [
        "id", "seq", "table", "kind", "state", "reason", "revision", "attempts", "maybeApplied",
        "createdAt", "firstAttemptAt", "lastAttemptAt", "nextAttemptAt", "closedAt", "lastStatus",
        "changedColumns",
    ]

    /// An operation without its item.
    static func operation(_ operation: JSONValue) -> JSONValue {
        guard case .object(let members) = operation else { return .null }
        return .object(members.filter { harmless.contains($0.name) })
    }

    /// A value as text, with users and the home folder replaced wherever they stand.
    func text(_ value: JSONValue) -> String { replacing(value).text }

    private func replacing(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(replacing(text))
        case .array(let values): .array(values.map(replacing))
        case .object(let members):
            .object(members.map { .init(replacing($0.name), replacing($0.value)) })
        case .null, .bool, .number: value
        }
    }

    private func replacing(_ text: String) -> String {
        var text = text
        for (index, identity) in identities.enumerated() {
            text = text.split(separator: identity, omittingEmptySubsequences: false)
                .joined(separator: "user-\(index + 1)")
        }
        if let home, home.count > 1 {
            text = text.split(separator: home, omittingEmptySubsequences: false)
                .joined(separator: "~")
        }
        return text
    }
}
