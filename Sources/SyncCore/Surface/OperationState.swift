/// Where an operation stands. Each state is a promise about what may have happened upstream.
public enum OperationState: String, Sendable, Hashable, CaseIterable {
    /// Due, and nothing of it is on its way.
    case queued
    /// Being sent, or sent and not yet answered.
    case sending
    /// Will be tried again at its next attempt.
    case waiting
    /// Sent without a verdict; the row is read back before anything else happens.
    case unknown
    /// The backend's row and mine differ; a person or a policy decides.
    case conflict
    /// The backend refused it; a person decides.
    case quarantined
    /// The backend has it.
    case done
    /// A person or a policy gave it up.
    case discarded
    /// Merged into another operation, or without an effect that would have to be sent.
    case collapsed

    /// Whether it still waits for the backend or a person.
    public var isOpen: Bool {
        switch self {
        case .queued, .sending, .waiting, .unknown, .conflict, .quarantined: true
        case .done, .discarded, .collapsed: false
        }
    }

    /// The states that still wait for the backend or a person.
    public static let open = Set(allCases.filter(\.isOpen))
}
