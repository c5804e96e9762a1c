import TablesProtocol

extension Vector {
    /// What is wrong with an answer, in words; nothing when it is as expected.
    func faults(of told: Client.Answer, _ error: (String) -> String) -> [String] {
        var faults: [String] = []
        if told.status != status { faults.append("\(told.status) instead of \(status)") }
        if !isBody(told, error) { faults.append("\(told.text) instead of \(answer)") }
        for (name, value) in answerFields {
            let mine = told.field(name)
            let isRight = value == "-" ? mine == nil : mine.map { Self.fits($0, value) } ?? false
            if !isRight { faults.append("\(name): \(mine ?? "-") instead of \(value)") }
        }
        return faults
    }

    private func isBody(_ told: Client.Answer, _ error: (String) -> String) -> Bool {
        if answer == "*" || answer == "+" { return true }
        if answer == "ids" || answer.hasPrefix("ids ") {
            return told.ids == answer.split(separator: " ").dropFirst().map(String.init)
        }
        let expected = answer.hasPrefix("! ") ? error(String(answer.dropFirst(2))) : answer
        guard let value = try? JSONValue(parsing: expected), let first = expected.first,
            "{[".contains(first)
        else { return Self.fits(told.text, expected) }
        return (try? JSONValue(parsing: told.text)).map { Self.fits($0, value) } ?? false
    }

    /// Values that are the same but for the order of members and for what `…` stands for.
    private static func fits(_ value: JSONValue, _ expected: JSONValue) -> Bool {
        if let text = expected.string { return value.string.map { fits($0, text) } ?? false }
        if let list = expected.array {
            guard let mine = value.array, mine.count == list.count else { return false }
            return zip(mine, list).allSatisfy { fits($0, $1) }
        }
        guard case .object(let members) = expected else { return value == expected }
        guard case .object(let mine) = value, mine.count == members.count else { return false }
        return members.allSatisfy { member in
            mine.contains { $0.name == member.name && fits($0.value, member.value) }
        }
    }

    private static func fits(_ text: String, _ expected: String) -> Bool {
        let pieces = expected.split(separator: "…", omittingEmptySubsequences: false)
        guard pieces.count > 1 else { return text == expected }
        guard text.hasPrefix(pieces[0]) else { return false }
        var rest = text.dropFirst(pieces[0].count)
        for piece in pieces.dropFirst().dropLast() {
            guard
                let found = piece.isEmpty
                    ? rest.startIndex..<rest.startIndex : rest.firstRange(of: piece)
            else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(pieces[pieces.count - 1])
    }
}
