import HTTPMessage
import HTTPTypes
import TablesProtocol

/// An error of the operator API: an RFC 9457 problem with a stable `code`.
struct Problem: Error, Sendable {
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
        var fields = OperatorHeaders.added(to: fields)
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

    /// 400 for a place in the body.
    static func invalid(_ detail: String, pointer: String) -> Problem {
        var problem = Problem.invalid(detail)
        problem.members = [.init("pointer", .string(pointer))]
        return problem
    }

    /// 400 for a parameter of the query.
    static func invalid(_ detail: String, parameter: String) -> Problem {
        var problem = Problem.invalid(detail)
        problem.members = [.init("parameter", .string(parameter))]
        return problem
    }

    /// 404.
    static func notFound(_ detail: String) -> Problem {
        Problem(status: .notFound, code: "not-found", detail: detail)
    }

    /// 503 with `Retry-After`.
    static func unavailable(_ detail: String) -> Problem {
        Problem(
            status: .serviceUnavailable, code: "unavailable", detail: detail,
            fields: [.retryAfter: String(Limits.retryAfterSeconds)])
    }

    /// 503 for a change for all identities that some stores could not get.
    /// - Parameters:
    ///   - count: the number of those stores.
    ///   - all: the number of all stores.
    static func storesLeft(_ count: Int, of all: Int) -> Problem {
        let (it, takes) = count == 1 ? ("it", "It takes") : ("they", "They take")
        return Problem(
            status: .serviceUnavailable, code: "stores-left",
            detail: "\(count) of \(all) stores could not be changed; all others were. \(takes) the "
                + "change when \(it) can be opened: run `understudy doctor`, which says which and what "
                + "to do.")
    }

    /// 405 with the allowed methods.
    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            status: .methodNotAllowed, code: "method-not-allowed",
            detail: "Here the methods are \(names).", fields: [.allow: names])
    }
}

extension Refusal {
    /// The refusal as a problem, for requests outside of `/tables` and for those without a known space.
    var problem: Response {
        var problem = Problem(status: status, code: reason.rawValue, detail: sentence)
        if reason == .signIn {
            problem.fields[.wwwAuthenticate] = "Bearer realm=\"understudy\""
        }
        return problem.response
    }
}
