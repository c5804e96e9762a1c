import ArgumentParser

/// What a person may have meant by the name of a command that there is not.
enum CommandSuggestion {
    /// The sentence for the first word that is no command; nil where no command is near.
    /// - Parameters:
    ///   - arguments: the words of the command line after the program's name.
    ///   - root: the command whose subcommands the words name.
    static func sentence(_ arguments: [String], in root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root._commandName]
        for word in arguments {
            let inner = command.configuration.subcommands
            // What follows an option may be its value.
            guard !word.hasPrefix("-"), !inner.isEmpty else { return nil }
            if let next = inner.first(where: { $0._commandName == word }) {
                command = next
                path.append(word)
                continue
            }
            let names = inner.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
            return nearest(word, of: names).map {
                "Did you mean '\((path + [$0]).joined(separator: " "))'?"
            }
        }
        return nil
    }

    /// The name that takes the fewest changes of a letter, at most one for each three letters and two in
    /// all; nil if none is that near.
    static func nearest(_ word: String, of names: [String]) -> String? {
        let most = min(max(word.count / 3, 1), 2)
        let near = names.map { (name: $0, changes: changes(from: word, to: $0)) }
        return near.filter { $0.changes <= most }.min { $0.changes < $1.changes }?.name
    }

    /// The least number of letters that are inserted, removed, replaced or swapped with the next one to make
    /// one text of the other.
    static func changes(from left: String, to right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var rows = [Array(0...right.count)]
        for i in 0..<left.count {
            var row = [i + 1]
            for j in 0..<right.count {
                let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
                var best = min(replaced, row[j] + 1, rows[i][j + 1] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rows[i - 1][j - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
