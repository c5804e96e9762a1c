import HTTPMessage
import HTTPTypes
import SyncCore
import TablesProtocol

// Health, metrics, the document, and the dashboard's files.
extension OperatorAPI {
    func livez() -> Response { Self.health([("process", nil)]) }

    /// Ready is who can take a durable write; being offline is ready.
    func readyz() async -> Response {
        var checks: [(String, String?)] = []
        for home in homes.all {
            do {
                try await home.store.proveWritable()
                checks.append(("store \(home.identity)", nil))
            } catch {
                checks.append(("store \(home.identity)", error.description))
            }
        }
        return Self.health(checks)
    }

    private static func health(_ checks: [(name: String, failure: String?)]) -> Response {
        let isOK = checks.allSatisfy { $0.failure == nil }
        let list = checks.map { check in
            JSONValue.members(
                ("name", .string(check.name)), ("ok", .bool(check.failure == nil)),
                ("detail", .string(check.failure ?? "ok")))
        }
        return .json(
            .members(("status", .string(isOK ? "ok" : "failing")), ("checks", .array(list))),
            status: isOK ? .ok : .serviceUnavailable)
    }

    func metrics() async -> Response {
        var statuses: [EngineStatus] = []
        for home in homes.all {
            if let status = try? await home.engine.status() { statuses.append(status) }
        }
        let text = Metrics(statuses: statuses, rejections: rejections.all).text
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
