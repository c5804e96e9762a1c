public import TablesProtocol

/// Where the backend is: scheme, host with port, and the path that comes before `/tables`.
public struct BackendAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// Host, with the port where one was given: `example.org`, `127.0.0.1:8081`, `[::1]:8081`.
    public let authority: String
    /// The path before `/tables`, without a slash at its end; empty for none.
    public let prefix: String

    /// Takes `http://host[:port][/path]` or the same with `https`; nil for anything else, such as
    /// an address with credentials, a query or a fragment.
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

    /// The address as it is written: `https://example.org/app`.
    public var description: String { "\(scheme)://\(authority)\(prefix)" }
}

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
