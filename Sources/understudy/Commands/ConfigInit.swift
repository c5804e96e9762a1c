import ArgumentParser
import Proxy

/// `understudy config init`.
struct ConfigInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a commented configuration file to begin with.")

    @Option(help: "Where. (default: understudy/understudy.conf in ~/.config)")
    var config: String?

    @Flag(help: "Print it instead.")
    var stdout = false

    func run() async throws {
        if stdout { return ThisProcess.print(own: Self.text) }
        guard
            let path = config ?? ThisProcess.environment("UNDERSTUDY_CONFIG")
                ?? ConfigurationFile.standardPath(ThisProcess.environment)
        else { throw StartProblem("There is no HOME, so say where with --config.") }
        do {
            if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                try Files.makeFolder(String(path[..<slash]))
            }
            let file = try OutputFile(path)
            try file.print(Self.text)
            try file.finish()
        } catch {
            throw StartProblem("\(error)", .error)
        }
        ThisProcess.say("\(path) is written; every setting in it is a comment so far.")
    }

    /// The file: every setting with what it is for, what it may say and what holds without it.
    static var text: String {
        var lines = [
            "# Understudy. Lines are name = value; a line that begins with # says nothing. The",
            "# command line and the environment (UNDERSTUDY_LISTEN for listen) win over this file.",
            "# A change holds from the next start, or from a SIGHUP where that is said.",
        ]
        for setting in ServeSetting.all {
            lines.append("")
            lines.append(
                "# \(setting.summary)" + (setting.isList ? " Repeat the line for more." : ""))
            lines.append("# Allowed: \(setting.allowed).")
            let isReloaded = Reload.reloadable.contains(setting.name)
            lines.append(
                "# Default: \(setting.standard)." + (isReloaded ? " SIGHUP takes it over." : ""))
            lines.append("#\(setting.name) = \(setting.example)")
        }
        return lines.joined(separator: "\n")
    }
}
