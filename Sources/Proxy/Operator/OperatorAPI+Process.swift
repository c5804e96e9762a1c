import HTTPMessage
import TablesProtocol

// The process, for a support bundle.
extension OperatorAPI {
    /// `GET /process`: the settings that hold, the libraries, and the end of the log.
    func processReport() -> Response {
        .json(
            .members(
                ("version", .string(Version.text)), ("startedAt", .time(startedAt)),
                (
                    "libraries",
                    .array(
                        process.libraries.map { library in
                            .members(
                                ("name", .string(library.name)),
                                ("version", .string(library.version)))
                        })
                ),
                ("settings", .array(process.settings().map { Self.json($0) })),
                ("log", .array(process.log().map { .string($0) }))))
    }

    private static func json(_ setting: ProcessReport.Setting) -> JSONValue {
        .members(
            ("name", .string(setting.name)),
            ("values", .array(setting.values.map { .string($0) })),
            ("origins", .array(setting.origins.map { .string($0) })))
    }
}
