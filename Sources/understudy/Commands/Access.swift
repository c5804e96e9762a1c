import ArgumentParser
import HTTPMessage
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Addresses with a secret, one for each client.",
        discussion: """
            A client uses its address instead of http://127.0.0.1:8080. Its name shows in history; \
            with --tables-access capability other programs of this machine are kept out.
            """,
        subcommands: [List.self, Add.self, Revoke.self], defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(
            abstract: "The addresses that there are.",
            discussion: "JSON: {items: [{name, madeAt, lastUsedAt}], next, total}.")
        static let needsServer = true
        static let nothing = "No client has an address of its own: understudy access add NAME"

        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Page<Answers.Access>> { AccessRoutes.list() }

        func lines(of one: Answers.Access) -> [String] {
            let used = one.lastUsedAt?.text ?? "not since the start"
            return ["\(one.name)  made \(one.madeAt.text)  last used \(used)"]
        }
    }

    struct Add: RequestCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an address. It is shown this once.",
            discussion: "JSON: {name, url, madeAt}.")
        static let needsServer = true

        @Argument(help: "What to call the client, such as phone.")
        var name: String

        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Answers.AccessAdded> {
            AccessRoutes.add(body: [AccessRoutes.name(name)])
        }

        func lines(_ made: Answers.AccessAdded) -> [String] { [made.url] }
    }

    struct Revoke: RemoveCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an address useless, at once.", discussion: "JSON: {}.")
        static let needsServer = true

        @Argument(help: "The name that the address was given.")
        var name: String

        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Answers.Nothing> { AccessRoutes.revoke(name) }
        var done: String { "\(name) is revoked." }
    }
}

struct Sessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Browsers that are signed in to the dashboard.",
        subcommands: [List.self, Revoke.self], defaultSubcommand: List.self)

    struct List: ListCommand {
        static let configuration = CommandConfiguration(
            abstract: "Who is signed in.",
            discussion: """
                JSON: {items: [{id, browser, startedAt, expiresAt, isCurrent, isReadOnly}], next, total}.
                """)
        static let needsServer = true
        static let nothing = "No browser is signed in."

        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Page<Answers.DashboardSession>> {
            AccessRoutes.sessions()
        }

        func lines(of one: Answers.DashboardSession) -> [String] {
            [
                "\(one.id)  since \(one.startedAt.text)  until \(one.expiresAt.text)  "
                    + (one.isReadOnly ? "read-only  " : "") + one.browser
            ]
        }
    }

    struct Revoke: RemoveCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a browser out.", discussion: "JSON: {}.")
        static let needsServer = true

        @Argument(help: "The session, as `understudy sessions` names it.")
        var id: String

        @OptionGroup var options: ClientOptions

        var request: RouteRequest<Answers.Nothing> { AccessRoutes.revokeSession(id) }
        var done: String { "\(id) is signed out." }
    }
}

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the dashboard, signed in by a link that is good once, for 30 minutes.",
        discussion: "JSON: {url, expiresAt}.")

    @Flag(help: "Only print the link.")
    var printOnly = false

    @Flag(help: "The browser sees all and changes nothing.")
    var readOnly = false

    @OptionGroup var options: ClientOptions

    func run() async throws {
        let request = AccessRoutes.makeLink(body: [AccessRoutes.isReadOnly(readOnly)])
        let link = try await options.withOperator { try await $0.answer(request) }
        options.show(link) { [$0.url] }
        guard !printOnly, !options.json, Browser.hasDisplay else { return }
        if !Browser.open(SignInPage(try options.folder(), url: link.url)) {
            ThisProcess.say("No browser could be opened; use the link above.")
        }
    }
}
