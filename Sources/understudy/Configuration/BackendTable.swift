import Backend
import TablesProtocol

/// A table of `understudy backend`, as given by `--table`: a name, and after a colon its options, such as
/// `movies`, `numbers:integer` or `secrets:authenticated+no-delete`.
struct BackendTable: Sendable, Hashable {
    /// An option of a table.
    enum Word: String, Sendable, Hashable, CaseIterable {
        case integer, hard, soft, authenticated
        case noRead = "no-read"
        case noInsert = "no-insert"
        case noUpdate = "no-update"
        case noDelete = "no-delete"
        case noUndelete = "no-undelete"
    }

    /// The name.
    let name: TableName
    /// The options.
    let words: Set<Word>

    /// The allowed values of `--table`, as part of a sentence.
    static let allowed =
        "the name of a table, or a name, a colon and words joined by +, such as "
        + "numbers:integer+soft; the words are \(Word.allCases.map(\.rawValue).joined(separator: ", "))"

    /// Reads the text; nil for an invalid name, an unknown word, or both `hard` and `soft`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = TableName(parts[0]) else { return nil }
        var words: Set<Word> = []
        if parts.count > 1 {
            for part in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
                guard let word = Word(rawValue: String(part)) else { return nil }
                words.insert(word)
            }
        }
        if words.isSuperset(of: [.hard, .soft]) { return nil }
        self.name = name
        self.words = words
    }

    /// The options of the table for a flavour. Deletions are final with the flavour express unless `soft`
    /// is given, and with the others only if `hard` is given.
    func options(of flavour: BackendFlavour) -> TableOptions {
        var table = TableOptions.standard(of: flavour)
        for word in words {
            switch word {
            case .integer: table.idKind = .integer
            case .hard: table.softDelete = false
            case .soft: table.softDelete = true
            case .authenticated: table.needsSignIn = true
            case .noRead: table.disabled.insert(.read)
            case .noInsert: table.disabled.insert(.insert)
            case .noUpdate: table.disabled.insert(.update)
            case .noDelete: table.disabled.insert(.delete)
            case .noUndelete: table.disabled.insert(.undelete)
            }
        }
        return table
    }
}
