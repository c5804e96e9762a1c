import HTTPTypes

/// The path of a request target. It is split at its slashes and then decoded once, so that `%2F` in a segment
/// never becomes a separator. All decisions on a path use this value.
package struct TargetPath: Sendable, Hashable {
    /// The decoded segments. `/` has none; a trailing slash adds an empty one.
    package let segments: [String]
    /// The normalised name of the first segment, see ``root(of:)``; empty for `/`.
    package let root: String

    /// Why a path is refused.
    package struct Malformed: Error, Hashable {
        package let sentence: String
    }

    /// Splits and decodes the path of `request`.
    /// - Throws: ``Malformed`` for the path, and for a `#` in the target.
    package init(_ request: Request) throws(Malformed) {
        try Self.refuseHash((request.head.path ?? "").utf8)
        try self.init(request.path)
    }

    /// Splits and decodes `path`, which starts with a slash.
    ///
    /// 1. The first segment decides the space, so it must have one meaning for all servers.
    /// 2. The same holds for every segment of Understudy's own paths (``own``).
    /// 3. Other paths are for the backend. They may have backslashes, control characters, empty segments
    ///    and bytes that are not UTF-8. Dot segments, overlong forms of UTF-8 and NUL are refused in them
    ///    too (``checkReadings(_:)``).
    /// - Throws: ``Malformed`` for a path that two servers could read in two ways.
    package init(_ path: Substring) throws(Malformed) {
        let slash = UInt8(ascii: "/")
        guard path.utf8.first == slash else {
            throw Malformed(sentence: "The request target must be a path that starts with a slash.")
        }
        guard path.utf8.count > 1 else {
            (segments, root) = ([], "")
            return
        }
        let raw = path.utf8.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        let first = try Self.firstSegment(Substring(raw[0]))
        root = Self.root(of: first)
        let isOwn = Self.own.contains(root)
        var segments = [first]
        for (index, segment) in raw.enumerated().dropFirst() {
            segments.append(
                try isOwn
                    ? Self.decode(
                        Substring(segment),
                        isID: index == 2 && root == "tables")
                    : Self.decodePassedThrough(Substring(segment)))
        }
        if isOwn, segments.dropLast().contains(where: Self.isEmpty) { throw Self.emptySegment }
        self.segments = segments
    }

    /// The first segment of a capability address.
    package static let secretRoot = "c"

    /// The first segments of Understudy's own paths, and of the backend's login paths.
    package static let own: Set = ["tables", "-", secretRoot, ".auth", "login"]

    /// The segments, decoded once and decoded twice.
    package var readings: [String] {
        segments
            + segments.map { segment in
                String(decoding: PercentCoding.decodeLeniently(segment.utf8), as: UTF8.self)
            }
    }

    /// The normalised name of a decoded segment: the ASCII letters, digits, `-`, `.`, `_` and `~` at its
    /// beginning, in lower case, without leading spaces and trailing dots. Servers differ in what they
    /// ignore of the rest. So `/Tables/x`, `/tables;a/x`, `/tables%2Fx`, `/tables:80/x` and `/tables./x`
    /// all have the root `tables`. Empty for a segment with characters beyond ASCII, which is refused.
    package static func root(of segment: String) -> String {
        if isPlain(segment.utf8) { return segment.lowercased() }
        guard segment.utf8.allSatisfy({ $0 < 0x80 }) else { return "" }
        let piece = pieces(segment).first { !$0.unicodeScalars.allSatisfy(isIgnored) } ?? ""
        var name = piece.utf8.drop { $0 <= UInt8(ascii: " ") }.prefix(
            while: PercentCoding.isUnreserved)
        // The dot of `.auth` belongs to the name; a last one does not.
        while name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name)).lowercased()
    }

    /// Decodes the first segment of a path, which decides the space of the request.
    /// - Throws: ``Malformed`` for a segment that ``decode(_:)`` refuses, that is empty, that is still
    ///   encoded after one decoding, or that has characters beyond ASCII. Some servers take a wide letter
    ///   for a plain one, or ignore a character without a width.
    package static func firstSegment(_ raw: Substring) throws(Malformed) -> String {
        if isPlain(raw.utf8) { return String(raw) }
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

    /// - Parameter isID: whether it is the id of an item, in which spaces count: clients of the SDKs' own tests
    ///   use ` .`. It goes to the backend with each space encoded.
    private static func decode(
        _ raw: Substring, isID: Bool = false
    ) throws(Malformed) -> String {
        if isPlain(raw.utf8) { return String(raw) }
        try refuseHash(raw.utf8)
        guard let text = PercentCoding.decode(raw) else {
            throw Malformed(sentence: "The path holds a percent sequence that is not UTF-8 text.")
        }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\\") || $0 == 0x7F }) {
            throw Malformed(sentence: "The path holds a control character or a backslash.")
        }
        try checkReadings(Array(text.utf8), isID: isID)
        return text
    }

    /// Whether a segment has letters, digits, `-` and `_` alone, and at least one. It has one reading for every
    /// server, and passes every check of this type.
    private static func isPlain(_ segment: some Collection<UInt8>) -> Bool {
        !segment.isEmpty
            && segment.allSatisfy { PercentCoding.isUnreserved($0) && !".~".utf8.contains($0) }
    }

    /// Decodes a segment of a path that is passed through; bytes that are not UTF-8 are replaced.
    private static func decodePassedThrough(_ raw: Substring) throws(Malformed) -> String {
        try refuseHash(raw.utf8)
        guard PercentCoding.isWellFormed(raw) else {
            throw Malformed(sentence: "The path holds a percent sign without two digits.")
        }
        let bytes = PercentCoding.decodeLeniently(raw.utf8)
        if bytes.contains(0) { throw Malformed(sentence: "The path holds a NUL byte.") }
        try checkReadings(bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses a decoded segment that has a dot segment or an invalid UTF-8 form in it, as it is or decoded
    /// once more. Some servers decode twice.
    private static func checkReadings(
        _ bytes: [UInt8], isID: Bool = false
    ) throws(Malformed) {
        for reading in [bytes, PercentCoding.decodeLeniently(bytes)] {
            if hasInvalidForm(reading) {
                throw Malformed(
                    sentence: "The path holds a character in a form that UTF-8 has not.")
            }
            if hasDotSegment(reading, spacesCount: isID) {
                throw Malformed(sentence: "The path holds a dot segment.")
            }
        }
    }

    /// Whether bytes contain an overlong form of UTF-8, such as `C0 AE` for a dot, or half a surrogate pair.
    private static func hasInvalidForm(_ bytes: [UInt8]) -> Bool {
        bytes.indices.dropLast().contains { index in
            switch (bytes[index], bytes[index + 1]) {
            case (0xC0...0xC1, 0x80...0xBF), (0xE0, 0x80...0x9F), (0xED, 0xA0...0xBF),
                (0xF0, 0x80...0x8F):
                true
            case _: false
            }
        }
    }

    /// Refuses a raw `#`, which ends the target for some servers and not for others.
    private static func refuseHash(_ target: some Sequence<UInt8>) throws(Malformed) {
        if target.contains(UInt8(ascii: "#")) {
            throw Malformed(sentence: "The request target holds a #: write %23 for it.")
        }
    }

    private static let emptySegment = Malformed(
        sentence: "The path holds an empty segment: write one slash, not two.")

    /// Whether some server reads a decoded segment as empty: apart from what follows semicolons, it has only
    /// ignored characters and slashes.
    private static func isEmpty(_ segment: String) -> Bool {
        if isPlain(segment.utf8) { return false }
        return pieces(segment).allSatisfy { $0.unicodeScalars.allSatisfy(isIgnored) }
    }

    /// Whether a piece of a decoded segment is one dot or two, apart from ignored characters, control
    /// characters and bytes that are not UTF-8.
    /// - Parameter spacesCount: whether a space is a character like any other.
    private static func hasDotSegment(_ bytes: [UInt8], spacesCount: Bool) -> Bool {
        guard bytes.contains(UInt8(ascii: ".")) else { return false }
        return pieces(String(decoding: bytes, as: UTF8.self)).contains { piece in
            let shown = piece.unicodeScalars.filter { scalar in
                (!isIgnored(scalar) || spacesCount && scalar == " ") && scalar.value >= 0x20
                    && scalar.value != 0x7F
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

    /// Whether some server ignores a character: a blank, or one without a width.
    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
    }
}
