import Compression
import Digests
import HTTPMessage
import HTTPTypes

/// One file of the dashboard, embedded in the binary.
struct DashboardFile: Sendable {
    /// The path in `Public` and below `/-/`, with the folder of a view: `queue/actions.js`.
    let name: String
    let bytes: [UInt8]
    /// The content as gzip; nil where that is not smaller. It is made once, with the first request for a file.
    let gzip: [UInt8]?
    /// A digest of the content, which tells one build's file from another's.
    let digest: String

    init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        gzip = gzipped(bytes)
        digest = String(SHA256.hash(bytes).hexadecimal.prefix(Limits.entityTagDigits))
    }

    static let all = embedded.map { $0.name == "index.html" ? $0.askingForModules() : $0 }

    static func named(_ name: String) -> DashboardFile? { all.first { $0.name == name } }

    /// The page, with a line for each module: a browser asks for all of them at once, instead of finding them
    /// one after another.
    private func askingForModules() -> DashboardFile {
        let scripts = Self.embedded.map(\.name).filter { $0.hasSuffix(".js") }
        let page = String(decoding: bytes, as: UTF8.self)
        let modules = scripts.filter { !page.contains("src=\"\($0)\"") }
        let lines = modules.map { "    <link rel=\"modulepreload\" href=\"\($0)\">\n" }
        guard let head = page.firstRange(of: "  </head>") else { return self }
        let whole = page[..<head.lowerBound] + lines.joined() + page[head.lowerBound...]
        return DashboardFile(name: name, bytes: Array(whole.utf8))
    }

    /// The media type, by the ending of the name.
    var mediaType: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "ico": "image/x-icon"
        case "json": "application/json"
        case "webmanifest": "application/manifest+json"
        case "woff2": "font/woff2"
        default: "application/octet-stream"
        }
    }
}

extension DashboardFile {
    /// The file as a response. The content security policy lets a page load its own files and call its own
    /// server, and nothing else: no inline script, no other site, no frame around it. Scripts and styles
    /// are only loaded from `/-/`, since the backend's answers have the same origin.
    ///
    /// A browser asks again each time it loads the page (`no-cache`). Where it has this content already, the
    /// answer is 304 without a body.
    /// - Parameters:
    ///   - authority: host and port of the request; no IPv6 address, which a policy cannot name.
    ///   - asked: the fields of the request: which codings it takes, and which content it has.
    func response(authority: String, asked: HTTPFields) -> Response {
        let compressed = asked.acceptGzip ? gzip : nil
        let tag = compressed == nil ? "\"\(digest)\"" : "\"\(digest)-gzip\""
        var fields = HTTPFields()
        fields[.eTag] = tag
        fields[.vary] = "Accept-Encoding"
        fields[.contentType] = mediaType
        fields[.cacheControl] = "no-cache"
        fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src \(authority)/-/; style-src \(authority)/-/; "
            + "worker-src 'none'; img-src 'self' data:; connect-src 'self'; font-src 'self'; "
            + "manifest-src 'self'; base-uri 'none'; "
            + "form-action 'none'; frame-ancestors 'none'"
        fields[.xContentTypeOptions] = "nosniff"
        fields[.resourcePolicy] = "same-origin"
        fields[.openerPolicy] = "same-origin"
        fields[.referrerPolicy] = "no-referrer"
        if asked.haveContent(tagged: tag) {
            return Response(status: .notModified, headerFields: fields)
        }
        if compressed != nil { fields[.contentEncoding] = "gzip" }
        return Response(status: .ok, headerFields: fields, body: compressed ?? bytes)
    }
}

// What a request says about codings and about the content that its client keeps.
extension HTTPFields {
    /// Whether `Accept-Encoding` names gzip, or else `*`, and does not rule it out with `q=0`.
    var acceptGzip: Bool { takes(coding: "gzip") ?? takes(coding: "*") ?? false }

    /// Whether `Accept-Encoding` takes a coding; nil where it does not name it.
    private func takes(coding: String) -> Bool? {
        for element in elements(of: .acceptEncoding) {
            let parts = element.split(separator: ";").map { trimmed($0).lowercased() }
            guard parts.first == coding else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }
            return quality.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
        }
        return nil
    }

    /// Whether `If-None-Match` names the tag. The comparison is weak (RFC 9110, 13.1.2).
    func haveContent(tagged tag: String) -> Bool {
        elements(of: .ifNoneMatch).contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    }

    /// The elements of a field that is a list, without the spaces around them.
    private func elements(of name: HTTPField.Name) -> [Substring] {
        (self[name] ?? "").split(separator: ",").map { trimmed($0) }
    }
}

private func trimmed(_ text: Substring) -> Substring {
    let isSpace = { (letter: Character) in letter == " " || letter == "\t" }
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
}
