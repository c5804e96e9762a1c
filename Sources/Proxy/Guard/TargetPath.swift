import HTTPMessage

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
    init(_ request: Request) throws(Malformed) {
        try self.init(request.path)
    }

    /// Splits and decodes `path`, which starts with a slash.
    /// - Throws: ``Malformed`` for a path that two servers could read in two ways: no slash first, a
    ///   broken escape, a dot segment, a control character, a backslash, an empty segment before the
    ///   last, a first segment that is still encoded after one decoding.
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
        if segments.dropLast().contains("") || segments == [""] {
            throw Malformed(sentence: "The path holds an empty segment: write one slash, not two.")
        }
        if segments.first?.utf8.contains(UInt8(ascii: "%")) == true {
            throw Malformed(sentence: "The path's first segment is percent-encoded twice.")
        }
        self.segments = segments
    }

    /// What the first segment names, however it is spelled: in lower case, without what follows a
    /// semicolon or an encoded slash, without the spaces and dots around it. Servers differ in what of
    /// that they ignore, so `/Tables/x`, `/tables;a/x`, `/tables%2Fx` and `/tables./x` all belong to
    /// `tables`. Empty for `/`.
    var root: String { Self.root(of: segments.first ?? "") }

    /// The same of one decoded segment.
    static func root(of segment: String) -> String {
        let name =
            segment.utf8.split(separator: UInt8(ascii: "/"))
            .lazy.map { $0.prefix { $0 != UInt8(ascii: ";") } }.first ?? ""[...].utf8
        let isEdge: (Unicode.Scalar) -> Bool = { $0 == "." || $0.properties.isWhitespace }
        var scalars = Substring(name).unicodeScalars
        // The dot of `.auth` belongs to the name; a last one does not.
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, isEdge(last) { scalars.removeLast() }
        // Upper case first: some letters have a plain one there alone.
        return String(scalars).uppercased().lowercased()
    }

    private static func decode(_ raw: Substring) throws(Malformed) -> String {
        guard let text = PercentCoding.decode(raw) else {
            throw Malformed(sentence: "The path holds a percent sequence that is not UTF-8 text.")
        }
        let names = text.utf8.split(separator: UInt8(ascii: "/"))
            .map { $0.prefix { $0 != UInt8(ascii: ";") } }
        if names.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) {
            throw Malformed(sentence: "The path holds a dot segment.")
        }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\\") || $0 == 0x7F }) {
            throw Malformed(sentence: "The path holds a control character or a backslash.")
        }
        return text
    }
}
