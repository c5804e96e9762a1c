import Backend
import HTTPClient
import HTTPServer
import Proxy
import SyncCore

extension ProcessReport.Library {
    /// The libraries of this program that are loaded, each with its version.
    static let linked =
        ([("libmicrohttpd", ServerLibrary.version), ("SQLite", Store.sqliteVersion)]
        + ClientLibrary.versions.map { ($0.name, $0.version) }
        + [("libpq", TablesBackend.postgreSQLLibraryVersion)])
        .map { ProcessReport.Library(name: $0.0, version: $0.1) }
}
