/// What an operation does to its item.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    case insert, update, replace, delete, undelete
}
