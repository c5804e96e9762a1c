import HTTPMessage
import HTTPTypes

/// The files of the dashboard, without a sign-in.
struct DashboardRoutes: Sendable {
    static let page = file(
        "/-/", "dashboard", "The dashboard", answers: "The page.", media: "text/html")
    static let file = file(
        "/-/{file}", "dashboardFile", "A file of the dashboard", names: ["file": fileName])
    static let fileOfView = file(
        "/-/{folder}/{file}", "dashboardFileOfView", "A file of one view of the dashboard",
        names: ["folder": "Name of the view's folder.", "file": fileName])

    var routes: [OperatorRoute] {
        [
            .now(Self.page) { try answer("index.html", $0) },
            .now(Self.file) { try answer($0.parameter("file"), $0) },
            .now(Self.fileOfView) {
                try answer("\($0.parameter("folder"))/\($0.parameter("file"))", $0)
            },
        ]
    }

    private static let fileName = "Name of the file."

    private static func file(
        _ path: String, _ id: String, _ summary: String, names: [String: String] = [:],
        answers: String = "The file, with its type.", media: String = "*/*"
    ) -> Route<Response> {
        Route(
            .get, path, id, .dashboard, summary, answers: answers, of: .page, names: names,
            also: [
                302:
                    "Another address has it: the dashboard's own with --dashboard-listen, localhost for [::1]."
            ], media: media)
    }

    /// A file of the dashboard. A browser at `[::1]` is redirected to `localhost`: a content security
    /// policy cannot name an IPv6 address.
    private func answer(_ name: String, _ call: OperatorCall) throws(Problem) -> Response {
        let authority = call.request.head.authority ?? ""
        if authority.hasPrefix("[") {
            let port = Substring(authority.utf8.drop { $0 != UInt8(ascii: "]") }.dropFirst())
            let file = name == "index.html" ? "" : name
            return Response(
                status: .found,
                headerFields: [
                    .location: "http://localhost\(port)/-/\(file)", .cacheControl: "no-store",
                ])
        }
        guard let file = DashboardFile.named(name) else {
            throw .notFound("The dashboard has no file \(name).")
        }
        return file.response(authority: authority, asked: call.request.head.headerFields)
    }
}
