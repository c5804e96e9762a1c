import Backend
import HTTPServer
import TablesProtocol

// What only `backend` has.
extension Settings {
    static let anyListen = Setting<ListenAddress>(
        name: "listen", allowed: "an address with a port, such as 127.0.0.1:8081 or 0.0.0.0:443"
    ) { try? ListenAddress($0) }

    static let backendTable = Setting<BackendTable>(
        name: "table", allowed: BackendTable.allowed
    ) { BackendTable($0) }

    /// Read by libpq alone, and never shown: it may hold a password.
    static let database = Setting<String>(name: "database", allowed: "a URL") { $0 }

    static let flavour = Setting<BackendFlavour>(
        name: "flavour",
        allowed: "one of \(BackendFlavour.allCases.map(\.rawValue).joined(separator: ", "))"
    ) { BackendFlavour(rawValue: $0) }

    static let signIn = Setting<TableName>(
        name: "sign-in", allowed: "the name of a table: letters, digits and _, not a digit first"
    ) { TableName($0) }

    static let accessFile = file("access-file")
    static let adminTokenFile = file("admin-token-file")
    static let certificate = file("tls-certificate")
    static let certificateKey = file("tls-key")

    static let defaultAccess = Setting<AccessLevel>(
        name: "default-access",
        allowed: "one of \(AccessLevel.allCases.map(\.rawValue).joined(separator: ", "))"
    ) { AccessLevel(rawValue: $0) }

    private static func file(_ name: String) -> Setting<String> {
        Setting<String>(name: name, allowed: "the path of a file") {
            $0.isEmpty ? nil : absolute($0)
        }
    }
}
