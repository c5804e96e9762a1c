import HTTPMessage

/// The syntax of a Host field: a name or an IPv4 address, or an IPv6 address in brackets, and perhaps a port.
///
/// A name has letters, digits and `-._~`. RFC 3986 allows it more, which no name of a machine has, and which
/// links and `Location` would repeat.
enum HostSyntax {
    /// Whether `host` is `name`, `name:port`, `[address]` or `[address]:port`.
    static func isValid(_ host: String) -> Bool {
        guard host.hasPrefix("[") else {
            let end = host.firstIndex(of: ":") ?? host.endIndex
            let name = host[..<end]
            return !name.isEmpty && name.utf8.allSatisfy(PercentCoding.isUnreserved)
                && isPort(host[end...])
        }
        guard let end = host.firstIndex(of: "]") else { return false }
        let address = String(host[..<end].dropFirst())
        return address.contains(":") && SocketAddress(host: address, port: 0) != nil
            && isPort(host[end...].dropFirst())
    }

    /// Whether `text` is empty, or a colon and a port. The port may be empty (RFC 3986, 3.2.3).
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.first else { return true }
        let digits = text.dropFirst()
        guard colon == ":", digits.utf8.allSatisfy(isDigit) else { return false }
        return digits.isEmpty || UInt16(digits) != nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
