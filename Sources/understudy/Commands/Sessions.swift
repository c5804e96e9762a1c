import ArgumentParser
import HTTPMessage
import TablesProtocol

/// `understudy sessions`.
struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Browsers that are signed in to the dashboard.",
        subcommands: [List.self, Revoke.self], defaultSubcommand: List.self)

    /// `understudy sessions list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Who is signed in.",
            discussion: """
                JSON: {items: [{id, browser, startedAt, expiresAt, isCurrent}], next, total}.
                """)

        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.withOperator { try await $0.get("/sessions") }
            options.show(answer) { answer in
                let items = answer["items"]?.array ?? []
                if items.isEmpty { return ["No browser is signed in."] }
                return items.map { item in
                    "\(item["id"]?.string ?? "")  since \(item["startedAt"]?.string ?? "")  "
                        + "until \(item["expiresAt"]?.string ?? "")  "
                        + (item["browser"]?.string ?? "")
                }
            }
        }
    }

    /// `understudy sessions revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a browser out.", discussion: "JSON: {}.")

        @Argument(help: "The session, as `understudy sessions` names it.")
        var id: String

        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = "/sessions/\(PercentCoding.encode(id))"
            try await options.withOperator { try await $0.delete(path) }
            options.show(.object([])) { _ in ["\(id) is signed out."] }
        }
    }
}
