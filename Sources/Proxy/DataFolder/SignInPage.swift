import Crypto

/// A page on disk that leads a browser to a one-time link.
///
/// The browser is started with the page's path, because every user of the machine can read the
/// arguments of a process. The page is 0600 in the data folder, which is 0700. It goes when its link
/// was used, is too old, or the process stops.
package struct SignInPage: Sendable, Hashable {
    /// Where it is.
    package let file: String
    /// The link that it leads to.
    let url: String

    private static let prefix = "open-"
    private static let suffix = ".html"

    /// The page of a link that signs in to the Understudy of a folder; nil when `url` holds no link.
    package init?(_ folder: DataFolder, url: String) {
        guard let value = url.split(separator: "#link=", maxSplits: 1).dropFirst().first else {
            return nil
        }
        file = Self.file(folder, link: String(value))
        self.url = url
    }

    /// Writes it for this user alone.
    package func write() throws(FileFailure) {
        try Files.write(file, Array(text.utf8))
    }

    /// Its HTML, which goes to the link at once and tells the link to no other server.
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

    /// Removes the page of a link, if there is one.
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

    /// The name has no part of the link in it, since the path stands in the list of processes.
    private static func file(_ folder: DataFolder, link: String) -> String {
        "\(folder.path)/\(prefix)\(SHA256.hex(link).prefix(16))\(suffix)"
    }

    /// As the value of an attribute.
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
