import Foundation
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// openapi.json is made from the routes and from the types of their answers. After a change of one write it with:
/// `OPENAPI_WRITE=1 swift test --filter OpenAPIDocumentTests`.
struct OpenAPIDocumentTests {
    private static let sources = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Sources").standardizedFileURL
    private static let file = sources.appending(path: "Proxy/Operator/openapi.json")

    @Test func `openapi.json is made from the routes and the types of their answers`()
        async throws
    {
        try await TestApp.run { test in
            let routes = test.graph.routes.operatorAPI.routes.map(\.description)
            let document = OpenAPIDocument(routes: routes)
            // What no route answers itself: the error of all of them, and the data of events.
            let schemas = try AnswerSchemas(
                of: [Answers.Problem.self, Answers.EventData.self] + document.answers,
                commentsIn: ["Proxy", "SyncCore"].map { Self.sources.appending(path: $0) })
            let text = try String(contentsOf: Self.file, encoding: .utf8)
            let made = DocumentText(
                try JSONValue(parsing: text).with(document, schemas)
            ).text
            if ProcessInfo.processInfo.environment["OPENAPI_WRITE"] != nil {
                try made.write(to: Self.file, atomically: true, encoding: .utf8)
            } else {
                #expect(made == text, "openapi.json is not as the routes and answers are.")
            }
        }
    }
}

extension JSONValue {
    /// The document with these paths, parameters and schemas. What it says of the sign-in and of refusals stays:
    /// the words of a problem's `code` are in several modules.
    fileprivate func with(_ made: OpenAPIDocument, _ answers: AnswerSchemas) -> JSONValue {
        let words = self["components"]?["schemas"]?["Problem"]?["properties"]?["code"]?["enum"]
        let names = answers.all.map(\.name)
        return replacing("paths") { _ in made.paths }.replacing("components") { components in
            components.replacing("parameters") { _ in made.parameters }
                .replacing("schemas") { schemas in
                    guard case .object(var members) = schemas else { return schemas }
                    for (name, schema) in made.bodies where !names.contains(name) {
                        members.put(name, schema)
                    }
                    for (name, schema) in answers.all {
                        guard name == "Problem" else {
                            members.put(name, schema)
                            continue
                        }
                        members.put(
                            name,
                            schema.replacing("properties") { properties in
                                properties.replacing("code") { code in
                                    guard case .object(let members) = code else { return code }
                                    return .object(members + [.init("enum", words ?? .null)])
                                }
                            })
                    }
                    let used = JSONValue.object(members).references(from: made.paths)
                    return .object(members.filter { used.contains($0.name) })
                }
        }
    }

    /// The names of the schemas that a value leads to, in this object of schemas.
    private func references(from value: JSONValue) -> Set<String> {
        // The responses are not made here; they lead to the problem alone. Events have no schema of their own.
        var found: Set = ["Problem", "EventData"]
        var rest = [value, self["Problem"] ?? .null, self["EventData"] ?? .null]
        while let next = rest.popLast() {
            switch next {
            case .array(let elements): rest += elements
            case .object(let members):
                for member in members {
                    rest.append(member.value)
                    guard member.name == "$ref",
                        let name = member.value.string?.split(separator: "/").last.map(String.init),
                        let schema = self[name], found.insert(name).inserted
                    else { continue }
                    rest.append(schema)
                }
            case .null, .bool, .number, .string: break
            }
        }
        return found
    }

    /// The object with another value of one member.
    private func replacing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { $0.name == name ? .init(name, change($0.value)) : $0 })
    }
}

extension [JSONValue.Member] {
    fileprivate mutating func put(_ name: String, _ value: JSONValue) {
        if let index = firstIndex(where: { $0.name == name }) {
            self[index].value = value
        } else {
            append(.init(name, value))
        }
    }
}

/// The text of a JSON document for people: what fits in a line is in one line.
private struct DocumentText {
    private let document: JSONValue
    private static let lineCharacters = 110

    init(_ document: JSONValue) { self.document = document }

    var text: String { Self.text(document, indent: 0, before: 0) + "\n" }

    /// - Parameter before: how many characters stand before the value in its line.
    private static func text(_ value: JSONValue, indent: Int, before: Int) -> String {
        let short = short(value)
        if before + short.count + 1 <= lineCharacters { return short }
        let space = String(repeating: " ", count: indent + 2)
        let end = String(repeating: " ", count: indent)
        switch value {
        case .object(let members):
            let lines = members.map { member -> String in
                let name = space + JSONValue.string(member.name).text + ": "
                return name + text(member.value, indent: indent + 2, before: name.count)
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(end)}"
        case .array(let elements):
            let lines = elements.map {
                space + text($0, indent: indent + 2, before: indent + 2)
            }
            return "[\n\(lines.joined(separator: ",\n"))\n\(end)]"
        case .null, .bool, .number, .string: return short
        }
    }

    private static func short(_ value: JSONValue) -> String {
        switch value {
        case .object(let members):
            let all = members.map { "\(JSONValue.string($0.name).text): \(short($0.value))" }
            return "{\(all.joined(separator: ", "))}"
        case .array(let elements): return "[\(elements.map(short).joined(separator: ", "))]"
        case .null, .bool, .number, .string: return value.text
        }
    }
}
