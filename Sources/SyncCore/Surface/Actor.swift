/// Who did something.
public enum Actor: RawRepresentable, Sendable, Hashable {
    /// An app through `/tables`.
    case client
    /// An app through an address of its own, by the address's name.
    case namedClient(String)
    /// A person through the dashboard or a command.
    case person
    /// The engine: an answer of the backend, or a policy.
    case engine

    /// Reads an actor as it is kept.
    public init?(rawValue: String) {
        switch rawValue {
        case "client": self = .client
        case "person": self = .person
        case "engine": self = .engine
        default:
            guard rawValue.hasPrefix(Self.namePrefix) else { return nil }
            self = .namedClient(String(rawValue.dropFirst(Self.namePrefix.count)))
        }
    }

    /// The actor as it is kept.
    public var rawValue: String {
        switch self {
        case .client: "client"
        case .namedClient(let name): Self.namePrefix + name
        case .person: "person"
        case .engine: "engine"
        }
    }

    /// The kind of actor, without a name: `client`, `person` or `engine`.
    public var kind: String {
        if case .namedClient = self { Actor.client.rawValue } else { rawValue }
    }

    /// The name of the address that a client used; nil for a plain address and for others.
    public var clientName: String? {
        if case .namedClient(let name) = self { name } else { nil }
    }

    private static let namePrefix = "client:"
}
