/// The address of the backend: scheme, host with port, and a path in front of `/tables`, if any.
struct BackendAddress: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    let scheme: String
    /// Host and port as written.
    let authority: String
    /// The path in front, without a trailing slash; mostly empty.
    let path: String

    /// Reads an address. User names, queries and fragments are not allowed in it.
    init?(_ text: String) {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound].lowercased()
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        let isPlain = !text.unicodeScalars.contains { scalar in
            scalar.value <= 0x20 || scalar.value >= 0x7F || "?#@\\\"<>".unicodeScalars.contains(scalar)
        }
        guard scheme == "http" || scheme == "https", !authority.isEmpty, isPlain else { return nil }
        self.scheme = scheme
        self.authority = authority.lowercased()
        var path = rest.dropFirst(authority.count)
        while path.last == "/" { path.removeLast() }
        self.path = String(path)
    }

    /// The address as text.
    var description: String { "\(scheme)://\(authority)\(path)" }
}
