import Foundation
import Synchronization

/// A PostgreSQL of Debian's package for one run of the tests: its files in a temporary folder, a Unix
/// socket only, and as another user where the tests run as root.
///
/// It starts with the first test that asks for it and ends with the process.
public final class PostgreSQLServer: Sendable {
    /// The only one of this process.
    private static let shared = Mutex<Result<PostgreSQLServer, Missing>?>(nil)

    private let folder: String

    /// Why there is none, in a sentence.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The URL of the server's database.
    public static func url() throws -> String {
        let server = shared.withLock { shared in
            if let shared { return shared }
            let started = Result<PostgreSQLServer, Missing> { () throws(Missing) in
                try PostgreSQLServer()
            }
            shared = started
            return started
        }
        return try server.get().url
    }

    /// A schema's name that no other test has.
    public static func newSchema() -> String {
        "rows_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    }

    private var url: String { "postgresql:///postgres?host=\(folder)&port=5432&user=postgres" }

    private init() throws(Missing) {
        let folder = "/tmp/understudy-postgresql-\(UUID().uuidString.prefix(8))"
        self.folder = folder
        // The shell ends the server when this process is gone, however it ended.
        let script = """
            set -eu
            bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
            [ -x "$bin/initdb" ] || { echo missing; exit 0; }
            mkdir -m 700 "$FOLDER"
            as=""
            if [ "$(id -u)" = 0 ]; then
              chown postgres "$FOLDER"
              as="setpriv --reuid=postgres --regid=postgres --clear-groups"
            fi
            cd "$FOLDER"
            chmod 755 "$FOLDER"
            $as "$bin/initdb" -D "$FOLDER/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 \
              --no-sync > "$FOLDER/log" 2>&1 || { cat "$FOLDER/log"; exit 0; }
            $as "$bin/pg_ctl" -D "$FOLDER/data" -w -t 60 -l "$FOLDER/data/log" -o "\
              -c listen_addresses='' -c unix_socket_directories='$FOLDER' -c port=5432 \
              -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
              -c max_connections=300 -c shared_buffers=32MB" start >> "$FOLDER/log" 2>&1 \
              || { cat "$FOLDER/log" "$FOLDER/data/log"; exit 0; }
            (
              exec < /dev/null > /dev/null 2>&1
              while kill -0 "$WATCHED"; do sleep 1; done
              $as "$bin/pg_ctl" -D "$FOLDER/data" -m immediate stop
              rm -rf "$FOLDER"
            ) &
            echo ready
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        let identifier = ProcessInfo.processInfo.processIdentifier
        process.environment = [
            "FOLDER": folder, "WATCHED": "\(identifier)", "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch {
            throw Missing(description: "bash cannot be run: \(error)")
        }
        // The end of its output is its end. Foundation also waits for what it leaves running, which inherits
        // a descriptor of Foundation's.
        let said = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self
        ).trimmingCharacters(in: .whitespacesAndNewlines)
        if said == "missing" {
            throw Missing(
                description: "PostgreSQL is not installed. Run scripts/setup test, or as root: "
                    + "apt-get install postgresql")
        }
        guard said.hasSuffix("ready") else {
            throw Missing(description: "PostgreSQL does not start: \(said)")
        }
    }
}
