import ArgumentParser
import HTTPMessage
import Program
import Proxy
import TablesProtocol

/// `understudy access`.
struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Addresses with a secret, one for each client.",
        discussion: """
            A client uses its address instead of http://127.0.0.1:8080. Its name shows in history; \
            with --tables-access capability other programs of this machine are kept out.
            """,
        subcommands: [List.self, Add.self, Revoke.self], defaultSubcommand: List.self)

    /// `understudy access list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The addresses that there are.",
            discussion: "JSON: {items: [{name, madeAt, lastUsedAt}], next, total}.")

        @OptionGroup var options: ClientOptions

        func run() async throws {
            let answer = try await options.withOperator { try await $0.get("/access") }
            options.show(answer) { answer in
                let items = answer["items"]?.array ?? []
                if items.isEmpty {
                    return ["No client has an address of its own: understudy access add NAME"]
                }
                return items.map { item in
                    "\(item["name"]?.string ?? "")  made \(item["madeAt"]?.string ?? "")  "
                        + "last used \(item["lastUsedAt"]?.string ?? "not since the start")"
                }
            }
        }
    }

    /// `understudy access add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an address. It is shown this once.",
            discussion: "JSON: {name, url, madeAt}.")

        @Argument(help: "What to call the client, such as phone.")
        var name: String

        @OptionGroup var options: ClientOptions

        func run() async throws {
            let name = JSONValue.object([.init("name", .string(name))])
            let answer = try await options.withOperator { try await $0.post("/access", [], name) }
            options.show(answer) { [$0["url"]?.string ?? ""] }
        }
    }

    /// `understudy access revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an address useless, at once.", discussion: "JSON: {}.")

        @Argument(help: "The name that the address was given.")
        var name: String

        @OptionGroup var options: ClientOptions

        func run() async throws {
            let path = "/access/\(PercentCoding.encode(name))"
            try await options.withOperator { try await $0.delete(path) }
            options.show(.object([])) { _ in ["\(name) is revoked."] }
        }
    }
}

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

/// `understudy open`.
struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the dashboard, signed in by a link that is good once, for 30 minutes.",
        discussion: "JSON: {url, expiresAt}.")

    @Flag(help: "Only print the link.")
    var printOnly = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let link = try await options.withOperator { try await $0.post("/links") }
        options.show(link) { [$0["url"]?.string ?? ""] }
        guard !printOnly, !options.json, Browser.hasDisplay, let url = link["url"]?.string else {
            return
        }
        if !Browser.open(SignInPage(try options.folder(), url: url)) {
            ThisProcess.say("No browser could be opened; use the link above.")
        }
    }
}
