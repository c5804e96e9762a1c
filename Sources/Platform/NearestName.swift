/// The known name that a misspelt one was probably meant to be.
package enum NearestName {
    /// The one of `names` that needs the fewest changes of a letter; nil if even that needs many. The case of
    /// letters does not count.
    package static func of(_ text: String, in names: [String]) -> String? {
        let given = Array(text.lowercased().unicodeScalars.prefix(Limits.namedCharacters))
        // One letter in three may be wrong, and one letter always.
        let most = max(given.count / 3, 1)
        let near = names.map { name in
            (name: name, changes: changes(given, Array(name.lowercased().unicodeScalars)))
        }
        return near.filter { $0.changes <= most }.min { $0.changes < $1.changes }?.name
    }

    /// The end of a sentence about an unknown name, with its mark: the nearest of `names`, otherwise all of
    /// them.
    package static func hint(_ text: String, in names: [String]) -> String {
        if let name = of(text, in: names) { return "; did you mean \(name)?" }
        return names.isEmpty ? "." : "; known are \(names.joined(separator: ", "))."
    }

    /// How many letters must be put in, left out or replaced to make one text of the other.
    private static func changes(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (place, wanted) in other.enumerated() {
                let replaced = diagonal + (letter == wanted ? 0 : 1)
                diagonal = row[place + 1]
                row[place + 1] = min(replaced, row[place + 1] + 1, row[place] + 1)
            }
        }
        return row[other.count]
    }
}
