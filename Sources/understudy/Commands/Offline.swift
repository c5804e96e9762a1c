import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy offline`.
struct Offline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send nothing to the backend until told otherwise.",
        discussion: "JSON: {mode, until}.")

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Back online after this many seconds.", valueName: "seconds"))
    var seconds: Int?

    @OptionGroup var options: ClientOptions

    func run() async throws {
        var body: [JSONValue.Member] = [.init("mode", .string("offline"))]
        if let seconds { body.append(.init("forSeconds", .number(seconds))) }
        let request = JSONValue.object(body)
        let mode = try await options.withOperator { try await $0.post("/mode", [], request) }
        options.show(mode) { mode in
            ["Offline" + (mode["until"]?.string.map { " until \($0)." } ?? ".")]
        }
    }
}
