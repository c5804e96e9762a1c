import HTTPMessage
import HTTPTypes

/// The path of a request target, split at its slashes first and then decoded once, so that `%2F`
/// inside a segment never becomes a separator. Every question about a path is asked of this value.
struct TargetPath: Sendable, Hashable {
    /// The decoded segments; `/` has none, a trailing slash adds an empty last one.
    let segments: [String]

    /// Why a path is refused, as one sentence.
    struct Malformed: Error, Hashable {
        let sentence: String
    }

    /// Splits and decodes the path of `request`.
    /// - Throws: ``Malformed`` for its path, and for a `#` anywhere in its target.
    init(_ request: Request) throws(Malformed) {
        try Self.checkMark((request.head.path ?? "").utf8)
        try self.init(request.path)
    }

    /// Splits and decodes `path`, which starts with a slash.
    /// - Throws: ``Malformed`` for a path that two servers could read in two ways: no slash first, a
    ///   `#`, a broken escape, a dot segment, a control character, a backslash, an empty segment
    ///   before the last, or a first segment that ``firstSegment(_:)`` refuses.
    init(_ path: Substring) throws(Malformed) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw Malformed(sentence: "The request target must be a path that starts with a slash.")
        }
        var segments: [String] = []
        if path.utf8.count > 1 {
            let raw = path.utf8.dropFirst()
                .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            for segment in raw {
                let text =
                    try segments.isEmpty
                    ? Self.firstSegment(Substring(segment)) : Self.decode(Substring(segment))
                segments.append(text)
            }
        }
        if segments.dropLast().contains(where: Self.isEmpty) { throw Self.emptySegment }
        self.segments = segments
    }

    /// What the first segment names, however it is spelled: the ASCII letters, digits, `-`, `.`, `_`
    /// and `~` that it begins with, in lower case, without the spaces before them and the dots behind
    /// them. Servers differ in what they ignore of the rest, so `/Tables/x`, `/tables;a/x`,
    /// `/tables%2Fx`, `/tables:80/x` and `/tables./x` all belong to `tables`. Empty for `/`.
    var root: String { Self.root(of: segments.first ?? "") }

    /// The same of one decoded segment; empty for one with characters beyond ASCII, which is refused.
    static func root(of segment: String) -> String {
        guard segment.utf8.allSatisfy({ $0 < 0x80 }) else { return "" }
        let piece = pieces(segment).first { !$0.unicodeScalars.allSatisfy(isIgnored) } ?? ""
        var name = piece.utf8.drop { $0 <= UInt8(ascii: " ") }.prefix(
            while: PercentCoding.isUnreserved)
        // The dot of `.auth` belongs to the name; a last one does not.
        while name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name)).lowercased()
    }

    /// Decodes the first segment of a path, by which the space of the request is decided.
    /// - Throws: ``Malformed`` for what no segment may be, for one that is empty, that is still encoded
    ///   after one decoding, or that has characters beyond ASCII: some servers take a wide letter for
    ///   a plain one, or leave out a character without a width.
    static func firstSegment(_ raw: Substring) throws(Malformed) -> String {
        let text = try decode(raw)
        if isEmpty(text) { throw emptySegment }
        if text.utf8.contains(UInt8(ascii: "%")) {
            throw Malformed(sentence: "The path's first segment is percent-encoded twice.")
        }
        if text.utf8.contains(where: { $0 >= 0x80 }) {
            throw Malformed(sentence: "The path's first segment may hold ASCII characters alone.")
        }
        return text
    }

    private static func decode(_ raw: Substring) throws(Malformed) -> String {
        try checkMark(raw.utf8)
        guard let text = PercentCoding.decode(raw) else {
            throw Malformed(sentence: "The path holds a percent sequence that is not UTF-8 text.")
        }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\\") || $0 == 0x7F }) {
            throw Malformed(sentence: "The path holds a control character or a backslash.")
        }
        // A server that decodes twice, or one behind it that decodes again, sees the second reading.
        let again = PercentCoding.decode(Substring(text)) ?? text
        if holdsDots(text) || holdsDots(again) {
            throw Malformed(sentence: "The path holds a dot segment.")
        }
        return text
    }

    /// A raw `#` ends the target for some servers and not for others.
    private static func checkMark(_ target: some Sequence<UInt8>) throws(Malformed) {
        if target.contains(UInt8(ascii: "#")) {
            throw Malformed(sentence: "The request target holds a #: write %23 for it.")
        }
    }

    private static let emptySegment = Malformed(
        sentence: "The path holds an empty segment: write one slash, not two.")

    /// Whether a decoded segment is empty to some server: without what follows its semicolons, it has
    /// nothing but blanks and slashes.
    private static func isEmpty(_ segment: String) -> Bool {
        pieces(segment).allSatisfy { $0.unicodeScalars.allSatisfy(isIgnored) }
    }

    /// Whether a piece of a decoded segment is one dot or two, blanks left out.
    private static func holdsDots(_ segment: String) -> Bool {
        guard segment.utf8.contains(UInt8(ascii: ".")) else { return false }
        return pieces(segment).contains { piece in
            let shown = piece.unicodeScalars.filter { !isIgnored($0) }
            return (1...2).contains(shown.count) && shown.allSatisfy { $0 == "." }
        }
    }

    /// The pieces of a decoded segment between slashes and backslashes, each without what follows a
    /// semicolon.
    private static func pieces(_ segment: String) -> [Substring] {
        segment.utf8
            .split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            .map { piece in Substring(piece.prefix { $0 != UInt8(ascii: ";") }) }
    }

    /// Whether some server leaves a character out: blanks, and those that have no width.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
    }
}
