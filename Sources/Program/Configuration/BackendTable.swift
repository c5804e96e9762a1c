package import Backend
package import TablesProtocol

/// Who may do something with a table of a backend that verifies tokens.
package enum AccessLevel: String, Sendable, Hashable, CaseIterable {
    /// Everybody who reaches the backend.
    case anonymous
    /// Users whose token is good.
    case authenticated
    /// Nobody.
    case disabled
}

/// A table of a backend, as given by `--table`: a name, and after a colon its options, such as
/// `movies`, `numbers:integer`, `secrets:authenticated+no-delete` or `todos:read=anonymous+per-user=owner`.
package struct BackendTable: Sendable, Hashable {
    /// An option of a table.
    package enum Word: String, Sendable, Hashable, CaseIterable {
        case integer, hard, soft, authenticated, anonymous
        case perUser = "per-user"
        case reusedIDs = "reused-ids"
        case noVersions = "no-versions"
        case noRead = "no-read"
        case noInsert = "no-insert"
        case noUpdate = "no-update"
        case noDelete = "no-delete"
        case noUndelete = "no-undelete"
    }

    package let name: TableName
    /// The options.
    private(set) var words: Set<Word> = []
    /// What is said for one verb, such as `read=anonymous`.
    private(set) var levels: [TableOptions.Operation: AccessLevel] = [:]
    /// The column with the user's id, where each user has rows of their own.
    package private(set) var ownerColumn: String?

    /// The columns of which each value occurs once.
    private(set) var uniqueColumns: [String] = []
    /// The columns that name a row of another table.
    private(set) var references: [String: TableName] = [:]

    /// The allowed values of `--table`, as part of a sentence.
    package static let allowed =
        "the name of a table, or a name, a colon and words joined by +, such as "
        + "numbers:integer+soft; the words are \(Word.allCases.map(\.rawValue).joined(separator: ", ")), "
        + "per-user=COLUMN, unique=COLUMN, references=COLUMN.TABLE, and VERB=LEVEL, where VERB is "
        + "\(TableOptions.Operation.allCases.map(\.rawValue).joined(separator: ", ")) and LEVEL is "
        + AccessLevel.allCases.map(\.rawValue).joined(separator: ", ")

    /// Reads the text; nil for an invalid name, an unknown word, or two words that contradict each other.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = TableName(parts[0]) else { return nil }
        self.name = name
        if parts.count > 1 {
            for part in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
                guard take(part) else { return nil }
            }
        }
        if words.isSuperset(of: [.hard, .soft]) { return nil }
        if words.contains(.reusedIDs), !words.contains(.integer) { return nil }
        if words.isSuperset(of: [.anonymous, .authenticated]) { return nil }
        if ownerColumn != nil, words.contains(.anonymous) || levels.values.contains(.anonymous) {
            return nil
        }
    }

    private mutating func take(_ text: Substring) -> Bool {
        if let word = Word(rawValue: String(text)) {
            words.insert(word)
            if word == .perUser { ownerColumn = ownerColumn ?? "userId" }
            return true
        }
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return false }
        if parts[0] == Word.perUser.rawValue {
            guard ownerColumn == nil, Self.isColumn(parts[1]) else { return false }
            ownerColumn = parts[1]
            return true
        }
        if parts[0] == "unique" {
            uniqueColumns.append(parts[1])
            return Self.isColumn(parts[1])
        }
        if parts[0] == "references" {
            let names = parts[1].split(separator: ".", omittingEmptySubsequences: false)
            guard names.count == 2, Self.isColumn(String(names[0])), let table = TableName(names[1])
            else { return false }
            references[String(names[0])] = table
            return true
        }
        guard let verb = TableOptions.Operation(rawValue: parts[0]), levels[verb] == nil,
            let level = AccessLevel(rawValue: parts[1])
        else { return false }
        levels[verb] = level
        return true
    }

    /// A name that no property of the server has and that a filter can name.
    package static func isColumn(_ name: String) -> Bool {
        TableName(name) != nil
            && !["id", "version", "createdat", "updatedat", "deleted"].contains(name.lowercased())
            && !name.hasPrefix("__")
    }

    /// Whether something of it needs users whose tokens are verified.
    package var needsAccess: Bool {
        ownerColumn != nil || words.contains(.anonymous)
            || levels.values.contains { $0 != .disabled }
    }

    /// The options of the table for a flavour. Deletions are final with the flavour express unless `soft`
    /// is given, and with the others only if `hard` is given.
    /// - Parameter verified: who may do what nothing is said about, where tokens are verified; nil where they
    ///   are not.
    package func options(of flavour: BackendFlavour, verified: AccessLevel? = nil) -> TableOptions {
        var table = TableOptions.standard(of: flavour)
        for word in words {
            switch word {
            case .integer: table.idKind = .integer
            case .reusedIDs: table.reusesIDs = true
            case .hard: table.softDelete = false
            case .soft: table.softDelete = true
            case .authenticated: table.needsSignIn = verified == nil
            case .anonymous, .perUser: break
            case .noVersions: table.hasVersions = false
            case .noRead: table.disabled.insert(.read)
            case .noInsert: table.disabled.insert(.insert)
            case .noUpdate: table.disabled.insert(.update)
            case .noDelete: table.disabled.insert(.delete)
            case .noUndelete: table.disabled.insert(.undelete)
            }
        }
        var standard = verified ?? .anonymous
        if words.contains(.anonymous) { standard = .anonymous }
        if words.contains(.authenticated) || ownerColumn != nil { standard = .authenticated }
        for verb in TableOptions.Operation.allCases {
            let level = levels[verb] ?? standard
            if level == .disabled { table.disabled.insert(verb) }
            if level == .authenticated, verified != nil { table.signedIn.insert(verb) }
        }
        table.ownerColumn = ownerColumn
        table.uniqueColumns = uniqueColumns
        table.references = references
        return table
    }
}
