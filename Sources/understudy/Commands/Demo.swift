import ArgumentParser
import Backend
import HTTPServer
import Platform
import Program
import Proxy
import SyncCore
import TablesProtocol

/// `understudy demo`: a reference backend and a proxy in one process, with sample todos.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try it: a backend, a proxy and a dozen todos in one process.",
        discussion: """
            The backend is at 127.0.0.1:8081, the proxy at 127.0.0.1:8080. Stop it with Ctrl-C; the \
            todos are kept.
            """)

    @Option(Settings.backendListen) var backendListen: String?

    @Flag(help: "Start over: remove what earlier demos left in the data folder.")
    var fresh = false

    @Flag(help: "Do not open the dashboard in a browser.")
    var noOpen = false

    @OptionGroup var options: ServeOptions

    func run() async throws {
        var flags = options.flags
        flags[Settings.backendListen.name] = backendListen.map { [$0] } ?? []
        let sources = Sources(flags: flags, environment: ThisProcess.environment)
        let processLog = try ProcessLog(sources)
        processLog.warn(of: UnknownVariable.all(ThisProcess.environmentNames))
        let log = processLog.logger
        var configuration = try configuration(sources)
        let lock = try configuration.proxy.folder.open(tell: ThisProcess.say)
        if fresh { try configuration.proxy.folder.empty() }
        let backend = try RunningBackend.start(
            try listen(sources), samples: true, log: log
        ) {
            try TablesBackend(at: "\(configuration.proxy.folder.path)/backend.sqlite") {
                ThisProcess.now
            }
        }
        if let address = BackendAddress("http://\(backend.address)") {
            configuration.proxy.backend = address
        }
        let proxy: RunningProxy
        do {
            var composition = Composition(configuration, log: log)
            composition.report = processLog.report(RunningSettings(sources))
            proxy = try await composition.start(lock)
        } catch {
            await backend.stop()
            throw error
        }
        let lifetime = await Lifetime(services: [backend.service] + proxy.services)
        welcome(proxy, backend)
        await lifetime.run()
        await proxy.close()
    }

    private func configuration(_ sources: Sources) throws -> ServeConfiguration {
        guard let placeholder = BackendAddress("http://127.0.0.1:8081"),
            let todos = TableName(RunningBackend.sampleTable)
        else { throw StartProblem("The demo's own names are not valid.", .error) }
        var configuration = try ServeConfiguration(
            sources, backend: placeholder, folderName: "understudy-demo", rebind: true)
        configuration.proxy.pulledTables = [todos]
        return configuration
    }

    private func listen(_ sources: Sources) throws -> ListenAddress {
        do {
            return try sources.valueOrDefault(Settings.backendListen)
        } catch {
            throw error.startProblem
        }
    }

    private func welcome(_ proxy: RunningProxy, _ backend: RunningBackend) {
        let link = proxy.makeLink()
        let command = TypedCommand(words: ["open", "--data", proxy.folder.path])
        let dashboard =
            ThisProcess.isOutputKept
            ? ["run \(command)"]
            : [
                link, "(signs one browser in, within 30 minutes; another link:", "\(command))",
            ]
        let indent = String(repeating: " ", count: 18)
        ThisProcess.sayLines(
            """

              Understudy \(Version.text) demo

              Clients         http://\(proxy.address)/tables/\(RunningBackend.sampleTable)
              Backend         http://\(backend.address)/tables/\(RunningBackend.sampleTable)
              Data            \(proxy.folder.path)
              Operator token  \(proxy.folder.tokenFile)

              Dashboard       \(dashboard.joined(separator: "\n\(indent)"))

              Ctrl-C stops it and loses nothing.

            """)
        if !noOpen, Browser.hasDisplay, !Browser.open(SignInPage(proxy.folder, url: link)) {
            ThisProcess.say("No browser could be opened; open the dashboard as it says above.")
        }
    }
}
