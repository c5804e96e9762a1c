import HTTPMessage
import HTTPTypes
import TablesProtocol

/// An error of the operator API, as RFC 9457 has it, with a stable `code`.
struct Problem: Sendable {
    let status: HTTPResponse.Status
    /// A stable word for programs.
    let code: String
    /// One sentence for a person, with what to do.
    let detail: String
    /// Further members.
    var members: [JSONValue.Member] = []
    /// Further header fields.
    var fields: HTTPFields = [:]

    /// The problem as a response.
    var response: Response {
        var fields = OperatorHeaders.closing(fields)
        fields[.contentType] = "application/problem+json"
        fields[.cacheControl] = "no-store"
        let body: JSONValue = .object(
            [
                .init("type", .string("about:blank")),
                .init("title", .string(status.reasonPhrase)),
                .init("status", .number(JSONNumber(Int64(status.code)))),
                .init("detail", .string(detail)),
                .init("code", .string(code)),
            ] + members)
        return Response(status: status, headerFields: fields, body: Array(body.text.utf8))
    }

    /// 400.
    static func invalid(_ detail: String, code: String = "invalid-request") -> Problem {
        Problem(status: .badRequest, code: code, detail: detail)
    }

    /// 404.
    static func notFound(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "not-found", detail: detail)
    }

    /// 503, to come again in a moment.
    static func unavailable(_ detail: String) -> Problem {
        Problem(
            status: .serviceUnavailable, code: "unavailable", detail: detail,
            fields: [.retryAfter: String(Limits.retryAfterSeconds)])
    }

    /// 503 for a change that holds for all identities, and that some of their stores could not take.
    static func storesLeft(_ count: Int, of all: Int) -> Problem {
        let (it, takes) = count == 1 ? ("it", "It takes") : ("they", "They take")
        return Problem(
            status: .serviceUnavailable, code: "stores-left",
            detail: "\(count) of \(all) stores could not be changed; all others were. \(takes) the "
                + "change when \(it) can be opened: run `understudy doctor`, which says which and what "
                + "to do.")
    }

    /// 405 with the methods that there are.
    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        Problem(
            status: .methodNotAllowed, code: "method-not-allowed",
            detail: "Here the methods are \(allowed.joined(separator: ", ")).",
            fields: [.allow: allowed.joined(separator: ", ")])
    }
}

extension Refusal {
    /// The refusal as a problem. Outside `/tables`, or before it is known what was asked for.
    var problem: Response {
        var problem = Problem(status: status, code: reason.rawValue, detail: sentence)
        if reason == .method {
            problem.fields[.allow] = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        }
        if reason == .signIn {
            problem.fields[.wwwAuthenticate] = "Bearer realm=\"understudy\""
        }
        return problem.response
    }
}
