import HTTPMessage

/// The path of a request target, split at its slashes first and then decoded once, so that `%2F`
/// inside a segment never becomes a separator.
struct TargetPath: Sendable, Hashable {
    /// The decoded segments; `/` has none, a trailing slash adds an empty last one.
    let segments: [String]

    /// Why a path is refused, as one sentence.
    struct Malformed: Error, Hashable {
        let sentence: String
    }

    /// Splits and decodes the path of `request`.
    init(_ request: Request) throws(Malformed) {
        try self.init(request.path)
    }

    /// Splits and decodes `path`, which starts with a slash.
    init(_ path: Substring) throws(Malformed) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Malformed(sentence: "The request target must be a path that starts with a slash.")
        }
        var segments: [String] = []
        if path.utf8.count > 1 {
            let raw = path.utf8.dropFirst()
                .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            for segment in raw { segments.append(try Self.decode(Substring(segment))) }
        }
        self.segments = segments
    }

    private static func decode(_ raw: Substring) throws(Malformed) -> String {
        guard let text = PercentCoding.decode(raw) else {
            throw Malformed(sentence: "The path holds a percent sequence that is not UTF-8 text.")
        }
        if text == "." || text == ".." {
            throw Malformed(sentence: "The path holds a dot segment.")
        }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\\") || $0 == 0x7F }) {
            throw Malformed(sentence: "The path holds a control character or a backslash.")
        }
        return text
    }
}
