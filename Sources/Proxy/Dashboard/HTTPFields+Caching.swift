import HTTPTypes

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
