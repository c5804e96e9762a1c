import TablesProtocol

// How the two servers in JavaScript read a list's options.
extension ListQuery {
    /// `$orderby` as the Node server rebuilds it: each term is a name, a space and a direction, and
    /// any direction but `desc` is `asc`.
    static func nodeOrder(_ text: String) -> String {
        text.split(separator: ",").compactMap { term -> String? in
            let words = term.trimmingSpaces.split(separator: " ", omittingEmptySubsequences: false)
            guard let name = words.first, !name.isEmpty else { return nil }
            let isDescending = words.count > 1 && words[1].uppercased() == "DESC"
            return isDescending ? "\(name) desc" : String(name)
        }.joined(separator: ",")
    }

    /// Refuses functions that these servers do not have; the parser knows those of later ones too.
    static func checkWords(_ text: String, _ profile: Profile) throws(Refusal) {
        let isRead = profile.generation == .mobileServices || profile.isNode
        guard isRead else { return }
        var blanked: [Character] = []
        var isQuoted = false
        for character in text {
            if character == "'" { isQuoted.toggle() }
            blanked.append(isQuoted || character == "'" ? "\u{1}" : character)
        }
        let unquoted = String(blanked)
        for match in unquoted.matches(of: /([A-Za-z_][A-Za-z0-9_-]*)\s*\(/) {
            let word = String(match.1)
            if words.contains(word) { continue }
            let index = unquoted.distance(from: unquoted.startIndex, to: match.range.lowerBound)
            let reason = word == "in" ? "Syntax error" : "Unknown identifier '\(word)'"
            throw scriptRefusal("\(reason) (at index \(index))", profile)
        }
    }

    /// A filter that cannot be read.
    static func scriptRefusal(_ reason: String, _ profile: Profile) -> Refusal {
        profile.generation == .mobileServices
            ? Refusal(400, "Invalid query specified. Error: \(reason)")
            : Refusal(profile.badQueryStatus, reason)
    }

    /// The functions, and the operators that may stand before a parenthesis.
    private static let words: Set = [
        "startswith", "endswith", "length", "toupper", "tolower", "trim", "substringof", "indexof",
        "replace", "substring", "concat", "day", "month", "year", "hour", "minute", "second",
        "floor", "ceiling", "round", "not", "and", "or", "eq", "ne", "gt", "ge", "lt", "le", "add",
        "sub", "mul", "div", "mod",
    ]
}

extension Substring {
    /// The text without spaces around it.
    fileprivate var trimmingSpaces: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
