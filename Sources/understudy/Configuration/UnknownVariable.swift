import Proxy

/// A variable of the environment that is named like one of Understudy's and is none: probably misspelt.
///
/// It is a warning and no error, since others set such variables too. Kubernetes sets `UNDERSTUDY_PORT` for a
/// service with the name understudy (docs/decisions/operator.md).
struct UnknownVariable: Sendable, Hashable, CustomStringConvertible {
    let name: String

    private static let prefix = "UNDERSTUDY_"

    /// The variables that the commands read.
    private static let known: [String] =
        ConfigurationKind.allCases.flatMap { $0.settings.map(\.variable) }
        + [ConfigurationFile.variable, Settings.backendListen.variable]

    /// Those among the names of an environment.
    static func all(_ names: [String]) -> [UnknownVariable] {
        names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted()
            .map { UnknownVariable(name: $0) }
    }

    /// The advice: the nearest known name, if one is near.
    var advice: String {
        // The prefix, which all have, would make any two names near.
        let near = NearestName.of(
            String(name.dropFirst(Self.prefix.count)),
            in: Self.known.map { String($0.dropFirst(Self.prefix.count)) })
        return near.map { "Did you mean \(Self.prefix)\($0)?" }
            ?? "`understudy config show` has the settings; take the variable out if it is not for "
            + "Understudy."
    }

    /// One or two sentences.
    var description: String { "The variable \(name) is not known, and changes nothing. \(advice)" }

    /// Says those of this process on standard error, once.
    static let said: Void = {
        for variable in all(ThisProcess.environmentNames) { ThisProcess.say("\(variable)") }
    }()
}
