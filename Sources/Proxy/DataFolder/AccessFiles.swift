import Digests
package import Platform
import TablesProtocol

/// The file of the dashboard's sessions, so that browsers stay signed in over a restart.
struct SessionFile: Sendable {
    /// The file, 0600.
    let file: String

    /// The sessions in the file; none when it cannot be read or parsed.
    func load() -> [OperatorAccess.Session] {
        guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
            return []
        }
        return (list.array ?? []).compactMap { entry in
            guard let cookie = entry["cookie"]?.string, let value = entry["value"]?.string,
                let expires = entry["expiresAt"]?.string.flatMap({ Instant(iso: $0) })
            else { return nil }
            return OperatorAccess.Session(
                cookie: cookie, value: value, expiresAt: expires,
                browser: entry["browser"]?.string ?? "",
                isReadOnly: entry["isReadOnly"]?.bool ?? false)
        }
    }

    /// Writes the sessions. If that fails, browsers have to sign in again after the next start.
    func save(_ sessions: [OperatorAccess.Session]) {
        let list = JSONValue.array(
            sessions.map { session in
                .object([
                    .init("cookie", .string(session.cookie)),
                    .init("value", .string(session.value)),
                    .init("expiresAt", .string(session.expiresAt.text)),
                    .init("browser", .string(session.browser)),
                    .init("isReadOnly", .bool(session.isReadOnly)),
                ])
            })
        try? Files.write(file, Array(list.text.utf8))
    }
}

/// The file of the capability addresses. It has the digests of their secrets.
struct CapabilityFile: Sendable {
    /// The file, 0600.
    let file: String

    /// The capabilities in the file; none when it cannot be read or parsed. Then no client can use
    /// `/tables` at such an address.
    func load() -> [Capability] {
        guard let bytes = try? Files.read(file), let list = try? JSONValue(parsing: bytes) else {
            return []
        }
        return (list.array ?? []).compactMap { entry in
            guard let name = entry["name"]?.string, let digest = entry["sha256"]?.string,
                let made = entry["madeAt"]?.string.flatMap({ Instant(iso: $0) })
            else { return nil }
            return Capability(name: name, fingerprint: digest, madeAt: made)
        }
    }

    func save(_ capabilities: [Capability]) throws(FileFailure) {
        let list = JSONValue.array(
            capabilities.map { capability in
                .members(
                    ("name", .string(capability.name)),
                    ("sha256", .string(capability.fingerprint)),
                    ("madeAt", .time(capability.madeAt)))
            })
        try Files.write(file, Array(list.text.utf8))
    }
}

/// A local HTML page that redirects a browser to a one-time link.
///
/// The browser is started with the page's path instead of the link, because every user of the machine can
/// read the arguments of a process. The page is 0600 in the data folder, which is 0700. It is removed when
/// its link was used or has expired, and when the process stops.
package struct SignInPage: Sendable, Hashable {
    /// The path of the page.
    package let file: String
    let url: String

    private static let prefix = "open-"
    private static let suffix = ".html"

    /// The page in `folder` for a one-time link; nil if `url` is no such link.
    package init?(_ folder: DataFolder, url: String) {
        guard let value = url.split(separator: "#link=", maxSplits: 1).dropFirst().first else {
            return nil
        }
        file = Self.file(folder, link: String(value))
        self.url = url
    }

    /// Writes the page for this user alone.
    package func write() throws(FileFailure) {
        try Files.write(file, Array(text.utf8))
    }

    /// The HTML: an immediate redirect to the link, without a `Referer` for other servers.
    var text: String {
        let url = Self.escaped(url)
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Understudy</title>
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0;url=\(url)"></head>
            <body><p><a href="\(url)">Open the dashboard</a></p></body></html>

            """
    }

    /// Removes the page of a link if it is there.
    static func remove(_ folder: DataFolder, link: String) {
        Files.remove(file(folder, link: link))
    }

    /// Removes every page of the folder.
    package static func removeAll(_ folder: DataFolder) {
        for name in Files.names(in: folder.path)
        where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
            Files.remove("\(folder.path)/\(name)")
        }
    }

    /// The path of a link's page. It has a digest of the link, since every user can read the arguments of a
    /// process.
    private static func file(_ folder: DataFolder, link: String) -> String {
        "\(folder.path)/\(prefix)\(SHA256.hex(link).prefix(16))\(suffix)"
    }

    /// The text as the value of an HTML attribute.
    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "&": "&amp;"
            case "\"": "&quot;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(character)
            }
        }.joined()
    }
}
