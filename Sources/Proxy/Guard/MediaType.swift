/// Media types, as far as the guard needs them.
enum MediaType {
    /// Whether a Content-Type is `application/json` or `application/…+json`, parameters aside.
    static func isJSON(_ field: String) -> Bool {
        let type = field.prefix { $0 != ";" }.trimming { $0 == " " || $0 == "\t" }.lowercased()
        return type == "application/json"
            || (type.hasPrefix("application/") && type.hasSuffix("+json")
                && type.utf8.count > "application/+json".utf8.count)
    }
}

extension Substring {
    /// The text without the characters at both ends that fulfil `condition`.
    func trimming(_ condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
