package import SyncCore

/// The address of a webhook. Its path is a secret: who knows it may post there. So the description leaves it
/// out.
package struct Webhook: Sendable, Hashable, CustomStringConvertible {
    /// Scheme and host.
    let address: BackendAddress
    /// Path and query.
    let target: String

    /// Reads an `https` address, or an `http` one of this machine; nil for anything else, such as an address
    /// with a user or a fragment.
    /// - Parameter isLoopback: whether an address is one of this machine.
    package init?(_ text: String, isLoopback: (BackendAddress) -> Bool) {
        guard let slashes = text.firstRange(of: "://") else { return nil }
        let end = text[slashes.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        let rest = text[end...]
        guard let address = BackendAddress(String(text[..<end])),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }),
            address.scheme == "https" || isLoopback(address)
        else { return nil }
        self.address = address
        target = rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    package var description: String { address.description }
}
