public enum OperationKind: String, Codable, Sendable, Hashable, CaseIterable {
    case insert, update, replace, delete, undelete

    /// Whether it changes columns of an item that is there.
    var changes: Bool {
        switch self {
        case .update, .replace: true
        case .insert, .delete, .undelete: false
        }
    }
}

/// The state of an operation. Each state says what may have happened on the backend.
public enum OperationState: String, Codable, Sendable, Hashable, CaseIterable {
    /// Due, and no request for it is in flight.
    case queued
    /// Its request is in flight, or is about to be sent.
    case sending
    /// Tried again at its next attempt.
    case waiting
    /// A request for it has no verdict. The row is read back before anything else happens.
    case unknown
    /// Both sides changed the item, and no policy decides; a person does.
    case conflict
    /// The backend refused it; a person decides.
    case quarantined
    /// The backend has applied it.
    case done
    case discarded
    /// Merged into another operation, or it had no effect to send.
    case collapsed

    /// Whether the operation still waits for the backend or a person.
    public var isOpen: Bool {
        switch self {
        case .queued, .sending, .waiting, .unknown, .conflict, .quarantined: true
        case .done, .discarded, .collapsed: false
        }
    }

    public static let open = Set(allCases.filter(\.isOpen))
    static let openInSQL = open.map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
    /// The open states in which a person decides.
    public static let waitsForPerson: Set<OperationState> = [.conflict, .quarantined]
    public static let waitsForBackend = open.subtracting(waitsForPerson)
}
