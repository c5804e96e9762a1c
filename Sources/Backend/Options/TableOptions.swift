public import TablesProtocol

/// What one table of the backend is like.
public struct TableOptions: Sendable, Hashable {
    /// What a column of a table with declared columns holds.
    public enum ColumnType: String, Sendable, Hashable {
        case string, boolean, number
    }

    /// What can be done with a table, as the Node server names it.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        case read, insert, update, delete, undelete
    }

    /// A column that exists before anything was written.
    public struct Column: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// What it holds.
        public var type: ColumnType

        /// Declares a column.
        public init(_ name: String, _ type: ColumnType) {
            self.name = name
            self.type = type
        }
    }

    /// Whether a deletion leaves a row with `deleted: true` (soft) or nothing.
    public var softDelete: Bool
    /// Text ids, or integers that the backend assigns.
    public var idKind: IDKind
    /// Whether a request without a token is answered 401. Each user who signed in with this backend
    /// then has items of their own, which the column `userId` tells apart; not in the express flavour.
    public var needsSignIn: Bool
    /// The columns that are known from the start (Node flavour: rows show them as null).
    public var columns: [Column]
    /// What is answered 405.
    public var disabled: Set<Operation>

    /// A table; without arguments, one with text ids, soft delete and open to all.
    public init(
        softDelete: Bool = true, idKind: IDKind = .string, needsSignIn: Bool = false,
        columns: [Column] = [], disabled: Set<Operation> = []
    ) {
        self.softDelete = softDelete
        self.idKind = idKind
        self.needsSignIn = needsSignIn
        self.columns = columns
        self.disabled = disabled
    }

    /// A table of which nothing else is said: one that deletes softly, but for good in the express
    /// flavour, as that server does where `softDelete` is not set.
    public static func standard(of flavour: BackendFlavour) -> TableOptions {
        TableOptions(softDelete: flavour != .express)
    }
}
