import ArgumentParser
import Proxy
import TablesProtocol

/// `understudy paths`.
struct Paths: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Where everything is kept.",
        discussion: "JSON: {config, data, stores, token, lock}.")

    @OptionGroup var options: ClientOptions

    func run() throws {
        let folder = try options.folder()
        let file = try options.sources().file.path
        let paths = [
            (
                "config",
                file ?? ConfigurationFile.standardPath(ThisProcess.environment) ?? ""
            ),
            ("data", folder.path), ("stores", "\(folder.path)/stores"),
            ("token", folder.tokenFile), ("lock", "\(folder.path)/lock"),
        ]
        let answer = JSONValue.object(paths.map { .init($0.0, .string($0.1)) })
        options.show(answer) { _ in
            paths.map { $0.0.padded(to: 8) + $0.1 }
        }
    }
}
