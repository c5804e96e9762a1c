package import ArgumentParser
package import Backend
package import HTTPServer
package import Platform
package import TablesProtocol

/// The settings of a backend, read and checked.
package struct BackendServeConfiguration: Sendable {
    package let listen: ListenAddress
    /// Where its rows are, unless they are in PostgreSQL.
    package let folder: DataFolder
    package var options: BackendOptions

    /// Reads the settings.
    /// - Parameter access: who may do what nothing is said about, where tokens are verified; nil where they
    ///   are not.
    package init(_ sources: Sources, access: AccessLevel? = nil) throws(StartProblem) {
        do {
            try self.init(reading: sources, access)
        } catch {
            throw StartProblem(reading: error)
        }
    }

    private init(reading sources: Sources, _ access: AccessLevel?) throws {
        listen = try sources.valueOrDefault(Settings.anyListen)
        folder =
            try sources.value(Settings.backendData)
            ?? DataFolder.standard(
                name: "understudy-backend", environment: sources.environment)
        options = BackendOptions(flavour: try sources.valueOrDefault(Settings.flavour))
        options.pageRows = try sources.value(Settings.pageRows)
        options.requestsPerSecond = try sources.value(Settings.requestsPerSecond)
        options.publicAddress = try sources.value(Settings.publicAddress)
        try addTables(sources, verified: access)
        if options.flavour == .express || access == .disabled, options.tables.isEmpty {
            throw StartProblem(
                "Only the tables that are given exist with the flavour express and with the access "
                    + "disabled. Name one with --table.")
        }
    }

    /// The tables of the settings. Where tokens are not verified and a table needs a sign-in, only tokens of
    /// this backend are good.
    /// - Parameter verified: the access of what nothing is said about, where tokens are verified.
    private mutating func addTables(_ sources: Sources, verified: AccessLevel?) throws {
        for table in try sources.list(Settings.backendTable) {
            if table.needsAccess, verified == nil {
                throw Self.needsAccess("--table \(table.name)")
            }
            if options.tables[table.name] != nil {
                throw StartProblem(
                    "--table \(table.name) is said twice. Join the words of a table by +.", .usage)
            }
            options.tables[table.name] = table.options(of: options.flavour, verified: verified)
        }
        let named = options.tables
        var unnamed = TableOptions.standard(of: options.flavour)
        if verified == .authenticated { unnamed.signedIn = Set(TableOptions.Operation.allCases) }
        if verified == .disabled { unnamed.disabled = Set(TableOptions.Operation.allCases) }
        for name in try sources.list(Settings.integerIDs) {
            options.tables[name, default: unnamed].idKind = .integer
        }
        for name in try sources.list(Settings.hardDelete) {
            options.tables[name, default: unnamed].softDelete = false
        }
        for name in try sources.list(Settings.signIn) {
            options.tables[name, default: unnamed].needsSignIn = verified == nil
            if verified != nil {
                // What --table forbids of it stays forbidden, and its column is the one said there.
                options.tables[name]?.ownerColumn = named[name]?.ownerColumn ?? "userId"
                options.tables[name]?.disabled = named[name]?.disabled ?? []
            }
        }
        if let verified {
            options.tokens = .verified
            options.dynamicTable = options.dynamicTable == nil ? nil : unnamed
            if verified == .disabled {
                options.dynamicTable = nil
                options.unknownTable = .notFound
            }
        } else if options.tables.values.contains(where: \.needsSignIn) {
            options.tokens = .issued
        }
    }

    /// The sentence on a setting that needs users whose tokens are verified.
    package static func needsAccess(_ what: String) -> StartProblem {
        StartProblem(
            "\(what) says who may do what, so users' tokens have to be verified. Say whose tokens "
                + "are good with --access-file.")
    }
}

/// The options of a backend, for a site or not. Each can be set as an environment variable too.
package struct BackendServeOptions: SettingOptions {
    @Option(Settings.anyListen) package var listen: String?
    @Option(Settings.backendData) package var data: String?
    @Option(
        name: [.long, .customLong("generation")], help: Settings.flavour.about.help)
    package var flavour: String?
    @Option(Settings.backendTable) package var table: [String] = []
    @Option(Settings.integerIDs) package var integerIds: [String] = []
    @Option(Settings.hardDelete) package var hardDelete: [String] = []
    @Option(Settings.signIn) package var signIn: [String] = []
    @Option(Settings.pageRows) package var pageRows: String?
    @Option(Settings.requestsPerSecond) package var requestsPerSecond: String?
    @Option(Settings.publicAddress) package var publicAddress: String?
    @OptionGroup package var log: LogOptions

    package init() {}
}

// The settings of a backend, for a site or not.
extension Settings {
    package static let anyListen = Setting<ListenAddress>(
        name: "listen", allowed: "an address with a port, such as 127.0.0.1:8081 or 0.0.0.0:443",
        about: SettingText(
            "Where proxies and clients find the backend.", valueName: "address",
            standard: "127.0.0.1:8081", example: "0.0.0.0:443")
    ) { try? ListenAddress($0) }

    package static let backendTable = Setting<BackendTable>(
        name: "table", allowed: BackendTable.allowed,
        about: SettingText(
            "A table that exists from the start; after a colon, joined by +, what is special about it: "
                + "\(BackendTable.Word.allCases.map(\.rawValue).joined(separator: ", ")).",
            valueName: "table[:words]",
            standard: "tables come with their first write; express: none",
            example: "todos:per-user",
            isList: true)
    ) { BackendTable($0) }

    package static let backendData = path(
        data.name, allowed: data.allowed,
        about: SettingText(
            "The folder of the rows that are in no database.", valueName: "folder",
            standard: "understudy-backend in $XDG_DATA_HOME or ~/.local/share",
            example: "/var/lib/understudy-backend")
    ) { DataFolder(path: $0) }

    package static let flavour = Setting<BackendFlavour>(
        name: "flavour",
        allowed: "one of \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", "))",
        about: SettingText(
            "Which server it answers like: "
                + "\(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", ")).",
            standard: "2", example: "2")
    ) { BackendFlavour(rawValue: $0) }

    package static let integerIDs = named(
        "integer-ids", "A table whose ids are integers that it assigns.", example: "numbers")
    package static let hardDelete = named(
        "hard-delete", "A table that deletes for good.", example: "drafts")
    package static let signIn = named(
        "sign-in", "A table that needs a sign-in, with items for each user.", example: "todos")

    package static let pageRows = wholeNumber(
        "page-rows", in: 1...100_000,
        about: SettingText(
            "Rows in one answer.", valueName: "rows", standard: "as the server of the flavour",
            example: "1000"))

    package static let requestsPerSecond = wholeNumber(
        "requests-per-second", in: 1...1_000_000,
        about: SettingText(
            "How many requests a second are taken. Others are answered 429, with a Retry-After that "
                + "spreads the clients' return.", valueName: "requests",
            standard: "all", example: "2000"))

    package static let publicAddress = Setting<PublicAddress>(
        name: "public-address",
        allowed: "an http or https address without a path, such as https://site.example",
        about: SettingText(
            "Where clients find it, if something in front of it speaks TLS: Link, nextLink and "
                + "Location begin so.", valueName: "url",
            standard: "what the request addressed", example: "https://site.example")
    ) { PublicAddress($0) }

    private static func named(
        _ name: String, _ summary: String, example: String
    ) -> Setting<TableName> {
        Setting<TableName>(
            name: name, allowed: "the name of a table: letters, digits and _, not a digit first",
            about: SettingText(
                summary, valueName: "table", standard: "none", example: example, isList: true)
        ) { TableName($0) }
    }
}

/// What protects a backend: the users' tokens, and the certificate.
package struct BackendSecurity: Sendable {
    /// Whose tokens are good; nil for a backend that takes every token.
    package let access: (any TokenVerifier)?
    /// What clients are shown; nil for connections in the clear.
    package let certificate: ServerCertificate?

    /// The protection of a site; nothing, for a backend that is tried out.
    package init(access: (any TokenVerifier)? = nil, certificate: ServerCertificate? = nil) {
        (self.access, self.certificate) = (access, certificate)
    }

    /// Refuses an address that other machines reach, where not every request is protected.
    package func check(_ address: ListenAddress, allowsPlainHTTP: Bool) throws(StartProblem) {
        if address.isLoopback { return }
        if access == nil {
            throw StartProblem(
                "\(address) is open to other machines, and without --access-file every token is "
                    + "accepted. Say with it whose tokens are good, or listen on a loopback address."
            )
        }
        if certificate == nil, !allowsPlainHTTP {
            throw StartProblem(
                "\(address) is open to other machines, and rows and tokens would travel in the clear. "
                    + "Say --tls-certificate and --tls-key, or --allow-plain-http where something in "
                    + "front of it speaks TLS or the network is trusted.")
        }
    }
}

/// Who may do something with a table of a backend that verifies tokens.
package enum AccessLevel: String, Sendable, Hashable, CaseIterable {
    /// All who reach the backend.
    case anonymous
    /// Users whose token is good.
    case authenticated
    /// No request.
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
