/// Media types, as far as the guard needs them.
enum MediaType {
    /// Whether a Content-Type is `application/json` or `application/…+json`, parameters aside.
    static func isJSON(_ field: String) -> Bool {
        let type = type(field)
        return type == "application/json"
            || (type.hasPrefix("application/") && type.hasSuffix("+json")
                && type.utf8.count > "application/+json".utf8.count)
    }

    /// Whether a Content-Type is that of a form without files, parameters aside.
    static func isForm(_ field: String) -> Bool {
        type(field) == "application/x-www-form-urlencoded"
    }

    /// The type without its parameters, in lower case.
    private static func type(_ field: String) -> String {
        field.prefix { $0 != ";" }.trimming { $0 == " " || $0 == "\t" }.lowercased()
    }
}

extension Substring {
    /// The text without the characters at both ends that fulfil `condition`.
    package func trimming(_ condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
