import Foundation
import SyncCore
import TablesProtocol
import Testing

@testable import Proxy

/// The part of openapi.json that is made from the types of answers. After a change of one write it with:
/// `OPENAPI_WRITE=1 swift test --filter OpenAPIDocumentTests`.
struct OpenAPIDocumentTests {
    /// The answers of all routes and the data of events; the types in them follow.
    private static let answers: [any (Decodable & Sendable).Type] = [
        Answers.Problem.self, Answers.Health.self, Answers.Session.self, Answers.SignedIn.self,
        Answers.Link.self, Page<Answers.DashboardSession>.self,
        Page<Answers.Access>.self, Answers.AccessAdded.self, Answers.Status.self,
        Answers.Mode.self, Answers.Settings.self, Page<Answers.KnownIdentity>.self,
        Answers.StoredBytes.self, Answers.BackupPage.self, Answers.BackupMade.self,
        Answers.NotificationState.self, Answers.NotificationDelivery.self,
        Page<Answers.Rejection>.self, Answers.ProcessReport.self, Answers.EventData.self,
        Run.self, Page<Run>.self,
        Page<Answers.TableStatus>.self, Answers.TableStatus.self,
        Page<Answers.TableItem>.self, Page<ServerRow>.self,
        Page<SetAsideRow>.self,
        Answers.RemoveResult.self, Answers.PurgeResult.self,
        Page<OperationSummary>.self, Page<OperationGroup>.self,
        Page<OperationOutcome>.self,
        OperationDetail.self, Answers.ActionResult.self, BulkResult.self,
        Answers.ImportResult.self, Page<ConflictDetail>.self,
        ConflictDetail.self, Answers.SentDecisions.self,
        Answers.HistoryPage.self, Answers.UndoResult.self,
        Answers.UndoneDecisions.self,
        Page<Answers.Sample>.self,
    ]

    private static let sources = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../../Sources").standardizedFileURL
    private static let file = sources.appending(path: "Proxy/Operator/openapi.json")

    private func schemas() throws -> AnswerSchemas {
        try AnswerSchemas(
            of: Self.answers,
            commentsIn: ["Proxy", "SyncCore"].map { Self.sources.appending(path: $0) })
    }

    @Test func `the schemas of answers are made from their types`() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let document = try JSONValue(parsing: text)
        let made = DocumentText(document.with(try schemas())).text
        if ProcessInfo.processInfo.environment["OPENAPI_WRITE"] != nil {
            try made.write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(made == text, "openapi.json is not as the types of answers are.")
        }
    }

    @Test func `every answer of a route has a type`() throws {
        let document = try JSONValue(parsing: PackageResources.openapi_json)
        let made = Set(try schemas().all.map { "#/components/schemas/\($0.name)" })
        for (method, path, operation) in OpenAPIShapes(document).operations {
            guard case .object(let responses)? = operation["responses"] else { continue }
            for response in responses {
                let content = response.value["content"]?["application/json"]
                guard let name = content?["schema"]?["$ref"]?.string else { continue }
                #expect(made.contains(name), "\(method) \(path) \(response.name): \(name)")
            }
        }
    }
}

extension JSONValue {
    /// The document with these schemas in the place of those that have their names. The words of a problem's
    /// `code` stay: the refusals are in several modules.
    fileprivate func with(_ made: AnswerSchemas) -> JSONValue {
        let words = self["components"]?["schemas"]?["Problem"]?["properties"]?["code"]?["enum"]
        return replacing("components") { components in
            components.replacing("schemas") { schemas in
                guard case .object(var members) = schemas else { return schemas }
                for (name, schema) in made.all {
                    let value =
                        name == "Problem"
                        ? schema.replacing("properties") { properties in
                            properties.replacing("code") { code in
                                guard case .object(let members) = code else { return code }
                                return .object(members + [.init("enum", words ?? .null)])
                            }
                        } : schema
                    if let index = members.firstIndex(where: { $0.name == name }) {
                        members[index].value = value
                    } else {
                        members.append(.init(name, value))
                    }
                }
                return .object(members)
            }
        }
    }

    /// The object with another value of one member.
    private func replacing(_ name: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.map { $0.name == name ? .init(name, change($0.value)) : $0 })
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
