import Glibc

/// A numeric address and port to listen on, such as `127.0.0.1:8080` or `[::1]:8080`.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address without brackets.
    public let host: String
    /// The port; 0 lets the system choose a free one.
    public let port: UInt16
    /// An optional address that cannot be had is left out instead of failing the start.
    public let isOptional: Bool

    /// Makes an address from its parts.
    /// - Throws: ``StartFailure/invalidAddress(_:)`` when `host` is not numeric.
    public init(host: String, port: UInt16, isOptional: Bool = false) throws(StartFailure) {
        self.host = host
        self.port = port
        self.isOptional = isOptional
        guard SocketAddress(host: host, port: port) != nil else {
            throw .invalidAddress(description)
        }
    }

    /// Reads `ADDRESS:PORT`, an IPv6 address in brackets.
    /// - Throws: ``StartFailure/invalidAddress(_:)``.
    public init(_ text: String, isOptional: Bool = false) throws(StartFailure) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...])
        else { throw .invalidAddress(text) }
        let host = text[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        let bare = isBracketed ? host.dropFirst().dropLast() : host
        guard isBracketed == bare.contains(":"),
            let address = try? ListenAddress(
                host: String(bare), port: port, isOptional: isOptional)
        else { throw .invalidAddress(text) }
        self = address
    }

    /// The address as it is written in a URL.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
