public import TablesProtocol

/// How the backend is spoken to.
public struct BackendConfiguration: Sendable, Hashable {
    /// Which generation of servers the backend is.
    public enum GenerationChoice: Sendable, Hashable {
        /// Found out by asking, when the backend is proven.
        case auto
        /// Set by the operator.
        case fixed(Generation)

        /// The generation that is spoken first. Servers of the third also speak the second, but not
        /// in full; those of the second refuse the third.
        var first: Generation {
            switch self {
            case .auto: .datasync
            case .fixed(let generation): generation
            }
        }
    }

    /// Where it is.
    public var address: BackendAddress
    /// Which generation it is.
    public var generation: GenerationChoice
    /// The application key that first generation servers ask for in `X-ZUMO-APPLICATION`.
    public var applicationKey: String?

    /// Describes a backend.
    public init(
        address: BackendAddress, generation: GenerationChoice = .auto,
        applicationKey: String? = nil
    ) {
        self.address = address
        self.generation = generation
        self.applicationKey = applicationKey
    }
}
