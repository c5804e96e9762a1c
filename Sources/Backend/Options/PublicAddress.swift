/// The address at which clients find a backend behind a proxy that speaks TLS for it, such as
/// `https://site.example`.
public struct PublicAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    let scheme: String
    /// The host, with the port where one was given.
    let authority: String

    /// Reads `http://host[:port]` or the same with `https`, with a slash at its end or without; nil for anything
    /// else.
    public init?(_ text: String) {
        let pattern = /(https?):\/\/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?\/?/
        guard let parts = text.wholeMatch(of: pattern) else { return nil }
        let port = parts.3.map(String.init) ?? ""
        guard port.isEmpty || UInt16(port.dropFirst()) != nil else { return nil }
        scheme = String(parts.1)
        authority = String(parts.2).lowercased() + port
    }

    /// The address as text, without a slash at its end.
    public var description: String { "\(scheme)://\(authority)" }
}
