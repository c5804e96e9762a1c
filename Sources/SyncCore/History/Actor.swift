/// Who or what did something: made a write, or caused an entry of history.
public indirect enum Actor: RawRepresentable, Sendable, Hashable {
    /// An app through `/tables`.
    case client
    /// An app with its own capability address, by the address's name.
    case namedClient(String)
    /// A person through the dashboard or a command.
    case person
    /// The engine: an answer of the backend, or a policy.
    case engine
    /// An actor in another store, whose history was imported.
    case elsewhere(Actor)

    /// Reads an actor's stored text.
    public init?(rawValue: String) {
        switch rawValue {
        case "client": self = .client
        case "person": self = .person
        case "engine": self = .engine
        default:
            if rawValue.hasPrefix(Self.elsewherePrefix) {
                let there = String(rawValue.dropFirst(Self.elsewherePrefix.count))
                guard let actor = Actor(rawValue: there), !actor.isElsewhere else { return nil }
                self = .elsewhere(actor)
                return
            }
            guard rawValue.hasPrefix(Self.namePrefix) else { return nil }
            self = .namedClient(String(rawValue.dropFirst(Self.namePrefix.count)))
        }
    }

    /// The actor's stored text.
    public var rawValue: String {
        switch self {
        case .client: "client"
        case .namedClient(let name): Self.namePrefix + name
        case .person: "person"
        case .engine: "engine"
        case .elsewhere(let actor): Self.elsewherePrefix + actor.rawValue
        }
    }

    /// The kind of actor without a name: `client`, `person` or `engine`.
    public var kind: String {
        switch self {
        case .client, .namedClient: Actor.client.rawValue
        case .person, .engine: rawValue
        case .elsewhere(let actor): actor.kind
        }
    }

    /// Whether it is an app that uses `/tables` of this store.
    public var isClient: Bool {
        switch self {
        case .client, .namedClient: true
        case .person, .engine, .elsewhere: false
        }
    }

    /// The name of the client's capability address; nil for every other actor.
    public var clientName: String? {
        switch self {
        case .namedClient(let name): name
        case .elsewhere(let actor): actor.clientName
        case .client, .person, .engine: nil
        }
    }

    /// Whether it acted in another store.
    public var isElsewhere: Bool {
        if case .elsewhere = self { true } else { false }
    }

    private static let namePrefix = "client:"
    private static let elsewherePrefix = "elsewhere:"
}
