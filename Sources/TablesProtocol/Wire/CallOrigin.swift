import HTTPMessage
import HTTPTypes

/// How a client addressed a table: what its answer's links are made of.
public struct CallOrigin: Sendable, Hashable {
    /// `http` or `https`.
    public var scheme: String
    /// Host and port as the client wrote them.
    public var authority: String
    /// The path of the table, still percent-encoded, without a trailing slash.
    public var tablePath: String
    /// The pairs of the query that the next page's link carries, in their order.
    public var parameters: [QueryParameter]
    /// Whether the client asked for next links without scheme and authority.
    public var wantsPathLinks: Bool

    /// Makes an origin.
    public init(
        scheme: String, authority: String, tablePath: String, parameters: [QueryParameter] = [],
        wantsPathLinks: Bool = false
    ) {
        self.scheme = scheme
        self.authority = authority
        self.tablePath = tablePath
        self.parameters = parameters
        self.wantsPathLinks = wantsPathLinks
    }
}

extension CallOrigin {
    /// The origin of a request with this path.
    init(_ request: Request, _ path: TablePath, _ parameters: [QueryParameter]) {
        let connection = request.connection
        self.init(
            scheme: request.head.scheme ?? "http",
            authority: request.head.authority
                ?? "\(connection.localAddress):\(connection.localPort)",
            tablePath: path.tablePath, parameters: parameters,
            wantsPathLinks: ClientFamily.wantsPathLinks(request.head.headerFields))
    }
}
