import TablesProtocol

/// Removes private data from a support bundle.
struct Redaction: Sendable {
    /// The keys of users, which are replaced by numbers.
    let identities: [String]
    /// The home folder, which is often named after a person.
    let home: String?
    /// The operator token. No text should have it.
    var token: String?

    /// The members of an operation without values of its row.
    private static let harmless: Set<String> = [
        "id", "seq", "table", "kind", "state", "reason", "revision", "attempts", "maybeApplied",
        "createdAt", "firstAttemptAt", "lastAttemptAt", "nextAttemptAt", "closedAt", "lastStatus",
        "changedColumns",
    ]

    /// An operation without values of its row.
    static func operation(_ operation: JSONValue) -> JSONValue {
        guard case .object(let members) = operation else { return .null }
        return .object(members.filter { harmless.contains($0.name) })
    }

    /// A value as text, with all users and the home folder replaced.
    func text(_ value: JSONValue) -> String { replacing(value).text }

    private func replacing(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(replacing(text))
        case .array(let values): .array(values.map(replacing))
        case .object(let members):
            .object(
                members.map { member in
                    let value =
                        member.name == "failedRequest"
                        ? Self.withoutRow(member.value) : member.value
                    return .init(replacing(member.name), replacing(value))
                })
        case .null, .bool, .number: value
        }
    }

    /// A request that failed, without the id and the query of its path.
    private static func withoutRow(_ request: JSONValue) -> JSONValue {
        guard case .object(let members) = request else { return request }
        return .object(
            members.map { member in
                guard member.name == "path", let path = member.value.string else { return member }
                let parts = path.prefix { $0 != "?" }.split(separator: "/")
                let table = parts.firstIndex(of: "tables").map {
                    parts[...min($0 + 1, parts.count - 1)]
                }
                return .init("path", .string("/" + (table ?? []).joined(separator: "/")))
            })
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
        if let token {
            text = text.split(separator: token, omittingEmptySubsequences: false)
                .joined(separator: Self.secret)
        }
        return Self.withoutCredentials(text)
    }

    static let secret = "(kept secret)"

    /// Whether something of a text was left out.
    static func hides(in text: String) -> Bool { text.contains(secret) }

    /// The text without the user and password of its addresses, such as `http://user:password@proxy:3128`.
    static func withoutCredentials(_ text: String) -> String {
        let pieces = text.split(separator: "://", omittingEmptySubsequences: false)
        let rest = pieces.dropFirst().map { piece -> String in
            let authority = piece.prefix { !" /?#\"'".contains($0) }
            guard let mark = authority.lastIndex(of: "@") else { return String(piece) }
            return secret + piece[mark...]
        }
        return ([String(pieces[0])] + rest).joined(separator: "://")
    }
}
