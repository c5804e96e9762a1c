import ArgumentParser
import Proxy
import TablesProtocol

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
