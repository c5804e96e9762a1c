import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Health, metrics, the document, and the dashboard's files.
extension OperatorAPI {
    func livez() -> Response { Self.health([("process", nil)]) }

    /// Ready is who can take a durable write; being offline is ready. With `verbose` it also tells
    /// what does not decide.
    func readyz(_ call: OperatorCall) async -> Response {
        var checks: [(String, String?)] = []
        var told: [(String, String)] = []
        for home in homes.all {
            do {
                try await home.store.proveWritable()
                let backend = try await home.engine.status().backend
                checks.append(("store \(home.identity)", nil))
                told.append(
                    (
                        "backend \(home.identity)", "\(backend.state.rawValue): \(backend.reason)"
                    ))
            } catch {
                checks.append(("store \(home.identity)", error.description))
            }
            let isGoing = await home.engine.isGoingRound
            told.append(("sync \(home.identity)", isGoing ? "goes round" : "stands still"))
        }
        return Self.health(checks, told: call.query["verbose"] == nil ? [] : told)
    }

    private static func health(
        _ checks: [(name: String, failure: String?)], told: [(name: String, text: String)] = []
    ) -> Response {
        let isOK = checks.allSatisfy { $0.failure == nil }
        let list =
            checks.map { check in
                JSONValue.members(
                    ("name", .string(check.name)), ("ok", .bool(check.failure == nil)),
                    ("detail", .string(check.failure ?? "ok")))
            }
            + told.map { one in
                JSONValue.members(
                    ("name", .string(one.name)), ("ok", .bool(true)), ("detail", .string(one.text)))
            }
        return .json(
            .members(("status", .string(isOK ? "ok" : "failing")), ("checks", .array(list))),
            status: isOK ? .ok : .serviceUnavailable)
    }

    func metrics() async -> Response {
        var statuses: [EngineStatus] = []
        var oldest: [String: Instant] = [:]
        var times = RequestTimes()
        for home in homes.all {
            if let status = try? await home.engine.status() { statuses.append(status) }
            let first = try? await home.store.operations(OperationFilter(), after: nil, limit: 1)
            oldest[home.identity] = first?.items.first?.createdAt
            times.add(home.engine.requestTimes)
        }
        let text = Metrics(
            statuses: statuses, oldest: oldest, requestTimes: times, rejections: rejections.all,
            startedAt: startedAt, now: now()
        ).text
        return Response(
            status: .ok,
            headerFields: [
                .contentType: "text/plain; version=0.0.4; charset=utf-8",
                .cacheControl: "no-store",
            ], body: Array(text.utf8))
    }

    func openAPI() -> Response {
        Response(
            status: .ok,
            headerFields: [.contentType: "application/json", .cacheControl: "no-cache"],
            body: PackageResources.openapi_json)
    }

    func dashboardFile(_ name: String) throws(Problem) -> Response {
        guard let file = DashboardFile.named(name) else {
            throw .notFound("The dashboard has no file \(name).")
        }
        return file.response
    }
}
