import ArgumentParser
import Logging

/// `understudy serve`: stands in for a backend until told to stop.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stand in for a backend.",
        discussion: """
            Clients use http://127.0.0.1:8080 instead of the backend's address. Ctrl-C stops it and \
            loses nothing.
            """)

    @Option(help: "Address of the backend, such as https://contoso.azurewebsites.net.")
    var backend: String?

    @Option(
        help: ArgumentHelp(
            "Generation of the backend: 1, 2, 3, or auto to ask it. (default: auto)",
            valueName: "generation"))
    var backendGeneration: String?

    @Option(
        help: ArgumentHelp(
            """
            File with the application key of a generation 1 backend. (default: the key that its \
            clients send)
            """, valueName: "path"))
    var applicationKeyFile: String?

    @OptionGroup var options: ServeOptions

    func run() async throws {
        var flags = options.flags
        flags[Settings.backend.name] = backend.map { [$0] } ?? []
        flags[Settings.backendGeneration.name] = backendGeneration.map { [$0] } ?? []
        flags[Settings.applicationKeyFile.name] = applicationKeyFile.map { [$0] } ?? []
        let configuration = try ServeConfiguration(
            Sources(flags: flags, environment: ThisProcess.environment), rebind: options.rebind)
        let log = Logger.ofProcess()
        let lock = try configuration.folder.open()
        let proxy = try await Composition(configuration, log: log).start(lock)
        ThisProcess.say(
            "Understudy stands in for \(configuration.backend) at http://\(proxy.address)")
        ThisProcess.say("Dashboard, signed in once, for 30 minutes: \(proxy.makeLink())")
        try await Lifetime(services: proxy.services, log: log).run()
        await proxy.close()
    }
}
