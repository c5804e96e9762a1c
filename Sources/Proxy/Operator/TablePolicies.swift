package import Platform
package import SyncCore
import TablesProtocol

/// A change of one table's policies; nil leaves a policy as it is.
package struct TablePolicies: Sendable, Hashable {
    var read: ReadPolicy?
    var write: WritePolicy?
    var conflict: ConflictPolicy?
    var unconditional: ConflictPolicy?
    var isPublic: Bool?
    /// Whether the backend assigns the table's ids, which are integers.
    var hasIntegerIDs = false
    var parents: [ParentLink]?
    var preservesHistory: Bool?
    var pause: TablePause?
    /// The table's indexes, each as an `$orderby`, in alphabetical order.
    var indexes: [String]?

    /// A change of nothing.
    init() {}

    /// All policies of a table but `isPublic`, which only the anonymous store has.
    init(of table: TableStatus) {
        for policy in Policy.ofEveryStore { policy.read(table, &self) }
    }

    /// The policies of a new table.
    static let standard: TablePolicies = {
        var policies = TablePolicies()
        for policy in Policy.ofEveryStore { policy.reset(&policies) }
        return policies
    }()

    /// Sets the policies of a table.
    func apply(to table: inout TableStatus) {
        for policy in Policy.all { policy.apply(self, &table) }
        if hasIntegerIDs { table.idKind = .integer }
    }

    /// Reads words joined by `+`, such as `revalidate+write-through`; nil if one is unknown.
    init?(words text: some StringProtocol) {
        for word in text.split(separator: "+", omittingEmptySubsequences: false) {
            if let read = ReadPolicy(rawValue: String(word)) { self.read = read }
            if let write = WritePolicy(rawValue: String(word)) { self.write = write }
            if let conflict = ConflictPolicy(rawValue: String(word)) { self.conflict = conflict }
            if word.hasPrefix(Self.parentPrefix) {
                guard let link = ParentLink(String(word.dropFirst(Self.parentPrefix.count))) else {
                    return nil
                }
                parents = (parents ?? []) + [link]
                continue
            }
            if word.hasPrefix(Self.indexPrefix) {
                let columns = String(word.dropFirst(Self.indexPrefix.count))
                guard let indexes = Self.indexes((indexes ?? []) + [columns]) else { return nil }
                self.indexes = indexes
                continue
            }
            switch word {
            case "public": isPublic = true
            case "integer-ids": hasIntegerIDs = true
            case "preserve-history": preservesHistory = true
            case "paused": pause = .all
            case "paused-pushes": pause = .pushes
            case "paused-pulls": pause = .pulls
            case "unconditional-client": unconditional = .client
            case "unconditional-ask": unconditional = .ask
            default: guard Self.words.contains(String(word)) else { return nil }
            }
        }
    }

    // The members of a request that changes a table.
    package static let readPolicy = Field<ReadPolicy>(
        "readPolicy", .words(of: ReadPolicy.self))
    package static let writePolicy = Field<WritePolicy>(
        "writePolicy", .words(of: WritePolicy.self))
    package static let conflictPolicy = Field<ConflictPolicy>(
        "conflictPolicy", .words(of: ConflictPolicy.self))
    package static let unconditionalPolicy = Field<ConflictPolicy>(
        "unconditionalPolicy", .word([ConflictPolicy.ask, .client].map(\.rawValue)))
    package static let isShared = Field<Bool>(
        "isPublic", .boolean, "Whether all identities share the anonymous store's table.")
    private static let parentLinks = Field<[JSONValue]>(
        "parents", .list(.object([parentTable, parentColumn], name: "ParentLink")),
        "By which columns an item names items of other tables: it is inserted after them and deleted before "
            + "them.")
    private static let parentTable = Field<String>("table", .anyText, isRequired: true)
    private static let parentColumn = Field<String>("column", .anyText, isRequired: true)
    private static let preserveHistory = Field<Bool>(
        "preserveHistory", .boolean,
        "Whether an update that is followed by a delete is sent all the same, before it.")
    package static let paused = Field<TablePause>(
        "pause", .words(of: TablePause.self),
        "What waits until a person resumes it. Clients read and write as before.")
    package static let orders = Field<[String]>(
        "indexes", .list(.someText),
        "Indexes for lists that are slow, each as an `$orderby`: `price desc`, or `complete,updatedAt desc` for "
            + "lists with `complete eq …` in the order of `updatedAt desc`. Those that are new are built while "
            + "clients read and writes wait; others are dropped.")
    static let fields: [any RequestField] = [
        readPolicy, writePolicy, conflictPolicy, unconditionalPolicy, isShared, parentLinks,
        preserveHistory, paused, orders,
    ]

    /// Reads the body of a request that changes a table.
    init(_ body: JSONValue) throws(Problem) {
        read = body[Self.readPolicy]
        write = body[Self.writePolicy]
        conflict = body[Self.conflictPolicy]
        unconditional = body[Self.unconditionalPolicy]
        isPublic = body[Self.isShared]
        preservesHistory = body[Self.preserveHistory]
        pause = body[Self.paused]
        if let links = body[Self.parentLinks] { parents = try Self.parents(links) }
        if let texts = body[Self.orders] {
            guard let indexes = Self.indexes(texts) else {
                throw .invalid("indexes must be a list of \(Self.allowedIndexes)")
            }
            self.indexes = indexes
        }
    }

    /// What indexes must be, as part of a sentence.
    static let allowedIndexes =
        "at most \(StoreLimits.indexesPerTable) orders by columns, such as price desc or "
        + "complete,updatedAt desc: each one to 4 columns with or without desc, not id, and not createdAt or "
        + "updatedAt alone."

    /// The indexes with these columns, each once; nil if there are too many, or one names no columns.
    private static func indexes(_ texts: [String]) -> [String]? {
        let shapes = texts.map { IndexShape($0) }
        let indexes = Set(shapes.compactMap { $0?.text }).sorted()
        return shapes.contains(nil) || indexes.count > StoreLimits.indexesPerTable ? nil : indexes
    }

    private static func parents(_ links: [JSONValue]) throws(Problem) -> [ParentLink] {
        let parents = links.map { link -> ParentLink? in
            guard let table = link[parentTable].flatMap({ TableName($0) }),
                let column = link[parentColumn], !column.isEmpty
            else { return nil }
            return ParentLink(table: table, column: column)
        }
        if parents.contains(nil) {
            throw .invalid("parents must be a list of objects with a table and a column.")
        }
        return parents.compactMap(\.self)
    }

    private static let parentPrefix = "parent:"
    fileprivate static let indexPrefix = "index:"

    private static let words = Set(
        ReadPolicy.allCases.map(\.rawValue) + WritePolicy.allCases.map(\.rawValue)
            + ConflictPolicy.allCases.map(\.rawValue))
}

/// The policies of one table, as given by `--policy`.
package struct PolicySetting: Sendable, Hashable {
    /// Nil for `*`: how all tables are read and written for which no policy was chosen. The present settings say that,
    /// and no store has it.
    let table: TableName?
    let policies: TablePolicies
}

extension PolicySetting {
    /// Reads text such as `todoitem=revalidate+write-through`, or `*=local`; nil if it is invalid.
    package init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let policies = TablePolicies(words: parts[1]) else { return nil }
        table = TableName(parts[0])
        self.policies = policies
        guard table == nil else { return }
        var others = policies
        (others.read, others.write) = (nil, nil)
        guard parts[0] == "*", others == TablePolicies() else { return nil }
    }

    /// What a value must be that names an index wrongly, as part of a sentence; nil for any other value.
    package static func refusal(_ text: String) -> String? {
        let words = text.split(separator: "=", maxSplits: 1).last?.split(separator: "+") ?? []
        let indexes = words.filter { $0.hasPrefix(TablePolicies.indexPrefix) }
        if indexes.isEmpty || TablePolicies(words: indexes.joined(separator: "+")) != nil {
            return nil
        }
        return
            "a table with words joined by +; those that begin with \(TablePolicies.indexPrefix) name "
            + TablePolicies.allowedIndexes
    }
}

// A policy that a configuration named and names no more goes back to the standard. The policies of a table are
// in its store, and so the data folder keeps which of them the configuration named.
extension AppGraph {
    /// Takes back, in every store, the policies that an earlier configuration named and the present one does not.
    /// - Returns: how many stores could not be changed; see ``TenantRegistry/withdrawFromUsers(_:)``.
    package func withdraw(
        _ earlier: [PolicySetting], except present: [PolicySetting]
    ) async throws -> Int {
        let gone = Set(earlier.compactMap(\.table)).compactMap { table -> PolicySetting? in
            let policies = TablePolicies(earlier, of: table)
                .without(TablePolicies(present, of: table))
            return policies == TablePolicies()
                ? nil : PolicySetting(table: table, policies: policies)
        }
        if gone.isEmpty { return 0 }
        try await tenants.anonymous.withdraw(gone)
        return try await tenants.withdrawFromUsers(gone)
    }
}

extension Tenant {
    /// Sets the policies of a table in its store.
    func apply(_ setting: PolicySetting) async throws(StoreError) {
        guard let table = setting.table else { return }
        _ = try await store.updateTable(table, setting.policies.apply)
    }

    /// Takes policies back from the tables that its store has.
    func withdraw(_ gone: [PolicySetting]) async throws(StoreError) {
        for table in try await store.tables() {
            guard let name = TableName(table.name) else { continue }
            for setting in gone where setting.table == name {
                _ = try await store.updateTable(name) { table in
                    setting.policies.withdrawn(from: table).apply(to: &table)
                }
            }
        }
    }
}

extension TablePolicies {
    /// The policies that several settings name for one table, or for `*`. If two name the same policy, the later wins.
    init(_ settings: [PolicySetting], of table: TableName?) {
        for setting in settings where setting.table == table {
            for policy in Policy.all { policy.add(setting.policies, &self) }
        }
    }

    /// These policies without those that are named still, and without integer ids: the rows have them.
    func without(_ named: TablePolicies) -> TablePolicies {
        var gone = self
        gone.hasIntegerIDs = false
        for policy in Policy.all { policy.remove(named, &gone) }
        return gone
    }

    /// The change that takes these policies back from the table of one store. If the table has another value
    /// by now, an operator has set it, and it stays.
    func withdrawn(from table: TableStatus) -> TablePolicies {
        var change = TablePolicies()
        for policy in Policy.all { policy.withdraw(self, table, &change) }
        return change
    }
}

/// What can be done with one policy: its place in a change, in a table, and the value of a new table.
private struct Policy: Sendable {
    let read: @Sendable (TableStatus, inout TablePolicies) -> Void
    let reset: @Sendable (inout TablePolicies) -> Void
    let apply: @Sendable (TablePolicies, inout TableStatus) -> Void
    /// Takes the value of another change that has one.
    let add: @Sendable (TablePolicies, inout TablePolicies) -> Void
    /// Takes nothing for a value that another change has too.
    let remove: @Sendable (TablePolicies, inout TablePolicies) -> Void
    /// Takes the usual value if the table has the one that was said.
    let withdraw: @Sendable (TablePolicies, TableStatus, inout TablePolicies) -> Void

    init<Value: Equatable & Sendable>(
        _ said: any WritableKeyPath<TablePolicies, Value?> & Sendable,
        _ held: any WritableKeyPath<TableStatus, Value> & Sendable, usual: Value
    ) {
        read = { $1[keyPath: said] = $0[keyPath: held] }
        reset = { $0[keyPath: said] = usual }
        apply = { if let value = $0[keyPath: said] { $1[keyPath: held] = value } }
        add = { if let value = $0[keyPath: said] { $1[keyPath: said] = value } }
        remove = { if $0[keyPath: said] != nil { $1[keyPath: said] = nil } }
        withdraw = { policies, table, change in
            let value = table[keyPath: held]
            if policies[keyPath: said] == value, value != usual { change[keyPath: said] = usual }
        }
    }

    static let ofEveryStore = [
        Policy(\.read, \.readPolicy, usual: .standard),
        Policy(\.write, \.writePolicy, usual: .standard),
        Policy(\.conflict, \.conflictPolicy, usual: .ask),
        Policy(\.unconditional, \.unconditionalPolicy, usual: .ask),
        Policy(\.parents, \.parents, usual: []),
        Policy(\.preservesHistory, \.preservesHistory, usual: false),
        Policy(\.pause, \.pause, usual: .nothing), Policy(\.indexes, \.indexes, usual: []),
    ]
    static let all = ofEveryStore + [Policy(\.isPublic, \.isPublic, usual: false)]
}

extension DataFolder {
    /// The file with the policies that the last start or reload named, one in a line as `--policy` has them.
    var policiesFile: String { "\(path)/policies" }

    /// The policies that the last start or reload named; none if nothing is known of one.
    package func configuredPolicies() throws(FileFailure) -> [PolicySetting] {
        let bytes = try Files.read(policiesFile)
        return String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n").compactMap {
            PolicySetting(String($0))
        }
    }

    /// Keeps which policies a start or reload named.
    /// - Parameter texts: as `--policy` has them.
    package func keep(configuredPolicies texts: [String]) throws(FileFailure) {
        let bytes = Array(texts.map { "\($0)\n" }.joined().utf8)
        let kept = try Files.read(policiesFile)
        if bytes != kept ?? [] { try Files.write(policiesFile, bytes) }
    }
}

// The policies of tables are in the stores. A policy for all identities is written to each store. A store
// that is new, or could not be opened then, gets the policies of the anonymous store later.
extension TenantRegistry {
    /// Changes policies of tables in the stores of all users, which are opened one after another. The
    /// policies of the anonymous store must be changed before: a new identity starts with those.
    /// - Returns: how many stores could not be changed. They get the change when they are opened.
    /// - Throws: why the index cannot record the change for them.
    func updateUsersTables(_ settings: [PolicySetting]) async throws(StoreError) -> Int {
        try await changeUsersTables(settings) { tenant throws(StoreError) in
            for setting in settings {
                try await tenant.apply(setting)
            }
        }
    }

    /// Takes policies back in the stores of all users, which are opened one after another. Each store is judged
    /// by its own policies. The policies of the anonymous store must be changed before.
    /// - Returns: how many stores could not be changed. They get the anonymous store's policies of these tables
    ///   when they are opened.
    /// - Throws: why the index cannot record the change for them.
    func withdrawFromUsers(_ gone: [PolicySetting]) async throws(StoreError) -> Int {
        try await changeUsersTables(gone) { tenant throws(StoreError) in
            try await tenant.withdraw(gone)
        }
    }

    private func changeUsersTables(
        _ settings: [PolicySetting], _ change: (Tenant) async throws(StoreError) -> Void
    ) async throws(StoreError) -> Int {
        var left: [String] = []
        for identity in identities.dropFirst() {
            do {
                try await change(try await open(identity))
            } catch {
                left.append(identity)
            }
        }
        if left.isEmpty { return 0 }
        let (tables, identities) = (settings.compactMap(\.table), left)
        try await executor.value { [index] () -> Result<Void, StoreError> in
            Result { () throws(StoreError) in try index.deferPolicies(of: tables, to: identities) }
        }.get()
        return left.count
    }

    /// Copies the anonymous store's policies of tables to a new tenant, without those of public tables.
    func adoptPolicies(_ tenant: Tenant) async {
        for table in (try? await anonymous.store.tables()) ?? [] where !table.isPublic {
            let policies = TablePolicies(of: table)
            guard policies != .standard, let name = TableName(table.name) else { continue }
            _ = try? await tenant.store.updateTable(name, policies.apply)
        }
    }

    /// Applies changes of policies that the tenant's store has missed: the tables get the policies that
    /// they have in the anonymous store. If that fails, the next opening tries again.
    func applyMissedPolicies(_ tenant: Tenant) async {
        let left = await executor.value { [index] in
            (try? index.deferredPolicies(of: tenant.identity)) ?? []
        }
        guard !left.isEmpty, let tables = try? await anonymous.store.tables() else { return }
        for table in tables where left.contains(table.name) {
            var policies = TablePolicies(of: table)
            policies.hasIntegerIDs = table.idKind == .integer
            guard let name = TableName(table.name) else { continue }
            do {
                _ = try await tenant.store.updateTable(name, policies.apply)
            } catch {
                return
            }
        }
        await executor.value { [index] in try? index.removeDeferredPolicies(of: tenant.identity) }
    }
}
