import ArgumentParser
import TablesProtocol

/// `understudy queue …`.
struct Queue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The operations that wait, and what to do with them.",
        subcommands: [List.self, Show.self, Retry.self, Discard.self], defaultSubcommand: List.self)

    /// `queue list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List operations.")

        @Option(help: "States with commas, or all; the open ones unless given.")
        var state: String?
        @Option(help: "Only of this table.")
        var table: String?
        @Option(help: "Only those that contain this text.")
        var text: String?
        @OptionGroup var page: PageOptions
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let query = page.query + [("state", state), ("table", table), ("q", text)]
            let list = try await options.withOperator { try await $0.get("/operations", query) }
            options.show(list, Words.operations)
        }
    }

    /// `queue show ID`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "One operation with all its attempts.")

        @Argument(help: "Its id.")
        var id: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            let detail = try await options.withOperator { client in
                try await client.get("/operations/\(PercentCoding.encode(id))")
            }
            options.show(detail, Words.detail)
        }
    }

    /// `queue retry ID`.
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send an operation again now.")

        @Argument(help: "Its id.")
        var id: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(try await Queue.act("retry", id, options), Words.action)
        }
    }

    /// `queue discard ID`.
    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an operation up; its item goes back to the backend's.")

        @Argument(help: "Its id.")
        var id: String
        @OptionGroup var options: ClientOptions

        func run() async throws {
            options.show(try await Queue.act("discard", id, options), Words.action)
        }
    }

    /// Does something with an operation as it is now.
    private static func act(
        _ verb: String, _ id: String, _ options: ClientOptions
    ) async throws -> JSONValue {
        try await options.withOperator { client in
            let path = "/operations/\(PercentCoding.encode(id))"
            let detail = try await client.get(path)
            let revision = detail["summary"]?["revision"] ?? .null
            return try await client.post("\(path)/\(verb)", [], .members(("revision", revision)))
        }
    }
}
