import HTTPServer
import SyncCore

extension BackendAddress {
    /// Whether the address names this machine without asking a name server.
    var isLoopback: Bool {
        if let host = numericHost, host.contains(":") { return host == "::1" }
        return host == "localhost" || numericHost?.hasPrefix("127.") == true
    }

    /// Whether a server that listens there is this backend: a proxy that passed its clients' requests on
    /// to itself would keep them for ever.
    func isServed(at address: ListenAddress) -> Bool {
        guard address.port != 0, address.port == port else { return false }
        // The name stands for both families.
        if host == "localhost" { return ["127.0.0.1", "::1"].contains(address.host) }
        return numericHost == address.host
    }

    /// The host without the port, an IPv6 address in its brackets.
    private var host: Substring {
        authority.hasPrefix("[")
            ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    }

    /// The host where it is an address, without brackets.
    private var numericHost: String? {
        if authority.hasPrefix("[") { return String(host.dropFirst().dropLast()) }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } ? String(host) : nil
    }

    /// The port that is asked, the scheme's own where none is written; nil where it is no port.
    private var port: UInt16? {
        let written = authority.dropFirst(host.count)
        return written.isEmpty ? (scheme == "https" ? 443 : 80) : UInt16(written.dropFirst())
    }
}
