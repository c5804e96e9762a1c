public import TablesProtocol

/// The backend's address: scheme, host with port, and the path before `/tables`.
public struct BackendAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// Host, with the port where one was given: `example.org`, `127.0.0.1:8081`, `[::1]:8081`.
    public let authority: String
    /// The path before `/tables`, without a slash at its end; empty for none.
    public let prefix: String

    /// Reads `http://host[:port][/path]` or the same with `https`; nil for anything else, such as an
    /// address with credentials, a query or a fragment.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["http", "https"].first(where: { lowered.hasPrefix("\($0)://") })
        else { return nil }
        let rest = text.dropFirst(scheme.count + 3)
        let authority = rest.prefix { $0 != "/" }
        var path = rest[authority.endIndex...]
        while path.last == "/" { path.removeLast() }
        let isPlain: (Substring) -> Bool = { part in
            part.unicodeScalars.allSatisfy { $0 > " " && $0 != "?" && $0 != "#" && $0 != "@" }
        }
        guard !authority.isEmpty, isPlain(authority), isPlain(path) else { return nil }
        self.scheme = scheme
        self.authority = authority.lowercased()
        prefix = String(path)
    }

    /// The address as text: `https://example.org/app`.
    public var description: String { "\(scheme)://\(authority)\(prefix)" }
}

/// How to reach the backend, and its protocol.
public struct BackendConfiguration: Sendable, Hashable {
    /// The generation of the backend's servers.
    public enum GenerationChoice: Sendable, Hashable {
        /// Detected by a request when the backend is proven.
        case auto
        /// Set by the operator.
        case fixed(Generation)

        /// The generation to try first. Third generation servers also accept the second, but not
        /// completely; second generation servers refuse the third.
        var first: Generation {
            switch self {
            case .auto: .datasync
            case .fixed(let generation): generation
            }
        }
    }

    /// The backend's address.
    public var address: BackendAddress
    /// The backend's generation.
    public var generation: GenerationChoice
    /// The application key that first generation servers ask for in `X-ZUMO-APPLICATION`.
    public var applicationKey: String?

    /// Makes a configuration from its parts.
    public init(
        address: BackendAddress, generation: GenerationChoice = .auto,
        applicationKey: String? = nil
    ) {
        self.address = address
        self.generation = generation
        self.applicationKey = applicationKey
    }
}
