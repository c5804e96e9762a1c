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
    ///
    /// 1. The first segment decides whose path it is, and can be read in one way alone.
    /// 2. So can every segment of a path that is Understudy's own (``own``).
    /// 3. Behind any other first segment a path is the backend's matter: it may have backslashes, control
    ///    characters, empty segments and bytes that are no UTF-8. What could lead elsewhere in another
    ///    reading is refused there too (``checkReadings(_:)``).
    /// - Throws: ``Malformed`` for a path that two servers could read in two ways.
    init(_ path: Substring) throws(Malformed) {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else {
            throw Malformed(sentence: "The request target must be a path that starts with a slash.")
        }
        guard path.utf8.count > 1 else {
            segments = []
            return
        }
        let raw = path.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        let first = try Self.firstSegment(Substring(raw[0]))
        let isOwn = Self.own.contains(Self.root(of: first))
        var segments = [first]
        for segment in raw.dropFirst() {
            segments.append(
                try isOwn ? Self.decode(Substring(segment)) : Self.passed(Substring(segment)))
        }
        if isOwn, segments.dropLast().contains(where: Self.isEmpty) { throw Self.emptySegment }
        self.segments = segments
    }

    /// The first segments of Understudy's own paths, and of those that it passes on with care.
    static let own: Set = ["tables", "-", AddressedRequest.mark, ".auth", "login"]

    /// The segments, and what a server sees in them that decodes once more.
    var readings: [String] {
        segments
            + segments.map { segment in
                String(decoding: PercentCoding.decodeLeniently(segment.utf8), as: UTF8.self)
            }
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
        try checkReadings(Array(text.utf8))
        return text
    }

    /// Decodes a segment that only the backend reads; bytes that are no UTF-8 are replaced.
    private static func passed(_ raw: Substring) throws(Malformed) -> String {
        try checkMark(raw.utf8)
        guard PercentCoding.isWellFormed(raw) else {
            throw Malformed(sentence: "The path holds a percent sign without two digits.")
        }
        let bytes = PercentCoding.decodeLeniently(raw.utf8)
        if bytes.contains(0) { throw Malformed(sentence: "The path holds a NUL byte.") }
        try checkReadings(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses a decoded segment in which a server that decodes twice, or one behind it that decodes
    /// again, sees a dot segment, or a character in a form that only lenient readers of UTF-8 take.
    private static func checkReadings(_ bytes: [UInt8]) throws(Malformed) {
        for reading in [bytes, PercentCoding.decodeLeniently(bytes)] {
            if holdsFalseForm(reading) {
                throw Malformed(
                    sentence: "The path holds a character in a form that UTF-8 has not.")
            }
            if holdsDots(reading) { throw Malformed(sentence: "The path holds a dot segment.") }
        }
    }

    /// Whether bytes hold a character in more bytes than UTF-8 has for it, such as `C0 AE` for a dot, or
    /// half a surrogate pair.
    private static func holdsFalseForm(_ bytes: [UInt8]) -> Bool {
        bytes.indices.dropLast().contains { place in
            switch (bytes[place], bytes[place + 1]) {
            case (0xC0...0xC1, 0x80...0xBF), (0xE0, 0x80...0x9F), (0xED, 0xA0...0xBF),
                (0xF0, 0x80...0x8F):
                true
            case _: false
            }
        }
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

    /// Whether a piece of a decoded segment is one dot or two. What some server leaves out does not count,
    /// nor do control characters and bytes that are no UTF-8.
    private static func holdsDots(_ bytes: [UInt8]) -> Bool {
        guard bytes.contains(UInt8(ascii: ".")) else { return false }
        return pieces(String(decoding: bytes, as: UTF8.self)).contains { piece in
            let shown = piece.unicodeScalars.filter { scalar in
                !isIgnored(scalar) && scalar.value >= 0x20 && scalar.value != 0x7F
                    && scalar != "\u{FFFD}"
            }
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
