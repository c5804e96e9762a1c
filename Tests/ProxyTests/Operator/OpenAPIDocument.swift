import HTTPTypes
import TablesProtocol

@testable import Proxy

/// The parts of openapi.json that are made from the routes: the paths, the parameters of several, and the
/// bodies that have names.
struct OpenAPIDocument {
    let routes: [RouteDescription]

    /// The types of all answers.
    var answers: [any Decodable.Type] { routes.compactMap { $0.answer() } }

    var paths: JSONValue {
        var paths: [JSONValue.Member] = []
        for route in routes {
            let operation = JSONValue.Member(
                route.method.rawValue.lowercased(), operation(route))
            if let index = paths.firstIndex(where: { $0.name == route.path }),
                case .object(let others) = paths[index].value
            {
                paths[index].value = .object(others + [operation])
            } else {
                paths.append(.init(route.path, .object([operation])))
            }
        }
        return .object(paths)
    }

    var parameters: JSONValue {
        .object(
            Fields.shared.map(\.description).map {
                .init($0.name, parameter($0, in: "query"))
            })
    }

    /// The bodies of requests with names, and the objects with names in them.
    var bodies: [(name: String, schema: JSONValue)] {
        routes.flatMap { named($0.request.body) }
    }

    private func named(_ schema: ValueSchema) -> [(name: String, schema: JSONValue)] {
        switch schema {
        case .object(let fields, let name):
            (name.map { [($0, object(fields))] } ?? []) + fields.flatMap { named($0.schema) }
        case .list(let element, _): named(element)
        case .nullable(let value): named(value)
        case .boolean, .integer, .text, .time, .word, .row: []
        }
    }

    private func operation(_ route: RouteDescription) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("operationId", .string(route.id)), .init("summary", .string(route.summary)),
        ]
        if let details = route.details { members.append(.init("description", .string(details))) }
        members.append(.init("tags", .array([.string(route.tag.rawValue)])))
        let parameters = parameters(route)
        if !parameters.isEmpty { members.append(.init("parameters", .array(parameters))) }
        if case .object(let fields, _) = route.request.body, !fields.isEmpty {
            members.append(
                .init(
                    "requestBody",
                    .members(
                        ("required", .bool(route.request.needsBody)),
                        ("content", content("application/json", schema(route.request.body))))))
        }
        members.append(.init("responses", .object(responses(route))))
        switch route.scope {
        case .page, .link: members.append(.init("security", .array([])))
        case .token:
            let bearer = JSONValue.members(("bearer", .array([])))
            members.append(.init("security", .array([bearer])))
        case .program, .store: break
        }
        return .object(members)
    }

    private func parameters(_ route: RouteDescription) -> [JSONValue] {
        let places = route.segments.filter { $0.hasPrefix("{") }.map { segment in
            let name = String(segment.dropFirst().dropLast())
            let field = FieldDescription(
                name: name, schema: .anyText, sentence: route.names[name], isRequired: true)
            return parameter(field, in: "path")
        }
        let fields = (route.request.parameters + route.headers.map(\.description)).map { field in
            let isShared = Fields.shared.contains {
                $0.description.name == field.name && $0.description.sentence == field.sentence
            }
            if isShared { return reference("parameters", field.name) }
            let isHeader = route.headers.contains { $0.description.name == field.name }
            return parameter(field, in: isHeader ? "header" : "query")
        }
        return places + fields
    }

    private func parameter(_ field: FieldDescription, in place: String) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(field.name)), .init("in", .string(place)),
            .init("required", .bool(field.isRequired)),
        ]
        if let sentence = field.sentence { members.append(.init("description", .string(sentence))) }
        members.append(.init("schema", schema(field.schema, field.keywords)))
        return .object(members)
    }

    /// The answers by status: that of the route, and those that the guard, the check of requests and the stores
    /// give instead.
    private func responses(_ route: RouteDescription) -> [JSONValue.Member] {
        var found: [Int: JSONValue] = [
            route.status.code: success(route, route.sentence, route.location)
        ]
        var names = [
            400: "BadRequest", 403: "Forbidden", 405: "MethodNotAllowed", 421: "Misdirected",
        ]
        if route.scope != .page { names[401] = "SignInRequired" }
        if route.scope == .store || !route.names.isEmpty { names[404] = "NotFound" }
        if route.method != .get { (names[413], names[415]) = ("TooLarge", "UnsupportedType") }
        if route.scope == .program || route.scope == .store { names[503] = "Unavailable" }
        for (status, told) in route.also {
            switch status {
            case 202: found[status] = success(route, told, "The run.")
            case 302:
                found[status] = .members(
                    ("description", .string(told)),
                    ("headers", .members(("Location", .members(("schema", Self.text))))))
            case 503 where route.scope == .page: found[status] = success(route, told, nil)
            default:
                guard told.contains(" ") else {
                    names[status] = told
                    continue
                }
                names[status] = nil
                found[status] = .members(
                    ("description", .string(told)),
                    (
                        "content",
                        content(
                            "application/problem+json", reference("schemas", "Problem"))
                    ))
            }
        }
        for (status, name) in names { found[status] = reference("responses", name) }
        return found.sorted { $0.key < $1.key }.map { .init(String($0.key), $0.value) }
    }

    private func success(
        _ route: RouteDescription, _ sentence: String, _ location: String?
    ) -> JSONValue {
        var members: [JSONValue.Member] = [.init("description", .string(sentence))]
        if let location {
            var headers = [
                JSONValue.Member(
                    "Location",
                    .members(("schema", Self.text), ("description", .string(location))))
            ]
            // Only the sign-in sets one.
            if route.scope == .link {
                headers.insert(.init("Set-Cookie", .members(("schema", Self.text))), at: 0)
            }
            members.append(.init("headers", .object(headers)))
        }
        guard route.status != .noContent else { return .object(members) }
        let hasType = route.answer().map { $0 != JSONValue.self } ?? false
        let answer =
            hasType
            ? reference("schemas", AnswerSchemas.name(route.answer() ?? JSONValue.self))
            : route.media == "application/json"
                ? .members(("type", .string("object"))) : Self.text
        var content: [JSONValue.Member] = [.init("schema", answer)]
        if let example = route.example {
            let one = JSONValue.members(("value", .string(example)))
            content.append(.init("examples", .members(("one", one))))
        }
        var contents = [JSONValue.Member(route.media, .object(content))]
        if route.request.parameters.contains(where: { $0.name == "format" }) {
            contents += ["text/csv", "application/jsonl"].map {
                .init($0, .members(("schema", Self.text)))
            }
        }
        members.append(.init("content", .object(contents)))
        return .object(members)
    }

    private static let text: JSONValue = .members(("type", .string("string")))

    private func content(_ media: String, _ schema: JSONValue) -> JSONValue {
        .object([.init(media, .members(("schema", schema)))])
    }

    private func reference(_ kind: String, _ name: String) -> JSONValue {
        .members(("$ref", .string("#/components/\(kind)/\(name)")))
    }

    private func object(_ fields: [FieldDescription]) -> JSONValue {
        let properties = fields.map { field -> JSONValue.Member in
            guard case .object(var members) = schema(field.schema, field.keywords) else {
                return .init(field.name, .null)
            }
            if let sentence = field.sentence {
                members.append(.init("description", .string(sentence)))
            }
            return .init(field.name, .object(members))
        }
        let required = fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        return .members(
            ("type", .string("object")), ("properties", .object(properties)),
            ("required", .array(required)), ("additionalProperties", .bool(false)))
    }

    private func schema(
        _ schema: ValueSchema, _ keywords: [JSONValue.Member] = []
    ) -> JSONValue {
        func type(_ name: String, _ more: [JSONValue.Member?] = []) -> JSONValue {
            .object([.init("type", .string(name))] + more.compactMap(\.self) + keywords)
        }
        func bound(_ name: String, _ value: Int, _ none: Int) -> JSONValue.Member? {
            value == none ? nil : .init(name, .number(value))
        }
        switch schema {
        case .boolean: return type("boolean")
        case .integer(let range):
            return type(
                "integer",
                [
                    bound("minimum", range.lowerBound, .min),
                    bound("maximum", range.upperBound, .max),
                ])
        case .text(let length): return type("string", [bound("minLength", length, 0)])
        case .time: return type("string", [.init("format", .string("date-time"))])
        case .word(_, let name?), .object(_, let name?): return reference("schemas", name)
        case .word(let words, nil):
            return type("string", [.init("enum", .array(words.map { .string($0) }))])
        case .list(let element, let counts):
            return type(
                "array",
                [
                    .init("items", self.schema(element)), bound("minItems", counts.lowerBound, 0),
                    bound("maxItems", counts.upperBound, .max),
                ])
        case .object(let fields, nil): return object(fields)
        case .row: return type("object", [.init("additionalProperties", .bool(true))])
        case .nullable(let value):
            guard case .object(var members) = self.schema(value, keywords) else { return .null }
            members[0].value = .array([members[0].value, .string("null")])
            return .object(members)
        }
    }
}
