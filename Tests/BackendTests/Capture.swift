import Foundation
import Testing

/// One exchange with a real Node server: the `curl` command and what came back.
struct Capture: Sendable, CustomTestStringConvertible {
    let number: Int
    let title: String
    let method: String
    let target: String
    let requestFields: [(String, String)]
    /// The request's body; nil when there was none or it was read from a file.
    let requestBody: String?
    let status: Int
    let fields: [String: String]
    /// The answer's body; nil when it was not kept.
    let body: String?

    var testDescription: String { "\(number) \(title)" }

    /// All exchanges in their order.
    static let all: [Capture] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = folder.appendingPathComponent("Captures/node-server-answers.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n##### ")
            .compactMap { Capture(String($0)) }
    }()

    private init?(_ text: String) {
        let parts = text.replacingOccurrences(of: "##### ", with: "")
            .split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\n")
        guard lines.count > 2, let space = lines[0].firstIndex(of: " "),
            let number = Int(lines[0][..<space])
        else { return nil }
        self.number = number
        title = String(lines[0][space...].dropFirst())
        let words = Self.words(lines[1].dropFirst(2))
        let data = words.firstIndex(of: "-d").map { words[$0 + 1] }
        requestBody = data ?? (words.contains("--data-binary") ? nil : "")
        let method = words.firstIndex(of: "-X").map { words[$0 + 1] }
        self.method = method ?? (words.contains("-I") ? "HEAD" : "GET")
        target = String(words.last?.dropFirst("http://127.0.0.1:3001".count) ?? "")
        requestFields = words.indices.filter { words[$0] == "-H" }.compactMap { index in
            let pair = words[index + 1].split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            return (String(pair[0]), pair[1].trimmingCharacters(in: .whitespaces))
        }
        status = Int(lines[2].split(separator: " ")[1]) ?? 0
        var fields: [String: String] = [:]
        for line in lines[3...] {
            let pair = line.split(separator: ":", maxSplits: 1)
            fields[pair[0].lowercased()] =
                pair.count > 1 ? pair[1].trimmingCharacters(in: .whitespaces) : ""
        }
        self.fields = fields
        let isKept = !words.contains("/dev/null") && !words.contains("-I")
        let body = parts.count > 1 ? parts[1].trimmingCharacters(in: .newlines) : ""
        self.body = isKept ? body : nil
    }

    /// The words of a shell command whose special characters have backslashes.
    private static func words(_ command: Substring) -> [String] {
        var words = [""]
        var rest = command
        while let character = rest.popFirst() {
            switch character {
            case " ": words.append("")
            case "\\": words[words.count - 1].append(rest.popFirst() ?? "\\")
            default: words[words.count - 1].append(character)
            }
        }
        return words
    }
}
