import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy online`.
struct Online: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk to the backend again.", discussion: "JSON: {mode, until}.")

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let body = JSONValue.members(("mode", .string("online")))
        let mode = try await options.withOperator { try await $0.post("/mode", [], body) }
        options.show(mode) { _ in ["Online."] }
    }
}
