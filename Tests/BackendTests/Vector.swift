import Foundation
import TablesProtocol
import Testing

/// One request and the answer that the real server gives, as a line of a vector file says it.
///
///     POST /tables/todo {"id":"a"}      method, target, body; JSON unless a field says otherwise
///     > If-Match: "MQ=="                a field of the request; `-` leaves a standing one out
///     < 201 {"id":"a"}                  status and body
///     < Location: -                     a field of the answer; `-` for none
///
/// A body is JSON (members in any order), `! sentence` (the server's error object around it),
/// `ids a b` (the ids of a list in their order), `*` (any) or the text itself; nothing is no body.
/// `…` stands for any characters.
struct Vector: Sendable {
    let line: Int
    let method: String
    let target: String
    let body: String
    private(set) var fields: [(String, String)] = []
    private(set) var status = 0
    private(set) var answer = ""
    private(set) var answerFields: [(String, String)] = []

    /// Vectors that follow each other on a backend of their own.
    struct Group: Sendable, CustomTestStringConvertible {
        let title: String
        var vectors: [Vector] = []
        var testDescription: String { title }
    }

    /// The groups of a file, and the fields that every request carries.
    static func groups(of name: String) -> (groups: [Group], fields: [(String, String)]) {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = folder.appendingPathComponent("Vectors/\(name).txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        var groups: [Group] = []
        var standing: [(String, String)] = []
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            let last = groups.count - 1
            let open = last >= 0 ? groups[last].vectors.count - 1 : -1
            if line.hasPrefix("== ") {
                groups.append(Group(title: String(line.dropFirst(3))))
            } else if line.hasPrefix("fields ") {
                standing.append(pair(line.dropFirst(7)))
            } else if line.hasPrefix("> ") {
                groups[last].vectors[open].fields.append(pair(line.dropFirst(2)))
            } else if line.hasPrefix("< ") {
                groups[last].vectors[open].expect(line.dropFirst(2))
            } else if !line.isEmpty, !line.hasPrefix("#") {
                groups[last].vectors.append(Vector(line: number + 1, text: line))
            }
        }
        return (groups, standing)
    }

    /// Whether the vector only prepares the others: `+ /tables/todo {"id":"a"}`.
    var isPreparation: Bool { answer == "+" }

    private init(line: Int, text: String) {
        self.line = line
        let isPreparation = text.hasPrefix("+ ")
        let parts = text.split(separator: " ", maxSplits: 2).map(String.init)
        method = isPreparation ? "POST" : parts[0]
        target = parts.count > 1 ? parts[1] : ""
        body = parts.count > 2 ? parts[2] : ""
        if isPreparation { (status, answer) = (201, "+") }
    }

    private mutating func expect(_ text: Substring) {
        guard status != 0 else {
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            status = Int(parts[0]) ?? -1
            answer = parts.count > 1 ? parts[1] : ""
            return
        }
        answerFields.append(Self.pair(text))
    }

    private static func pair(_ text: Substring) -> (String, String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
    }
}
