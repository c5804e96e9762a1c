import Proxy

/// The sources of settings: flags win over the environment, which wins over the configuration file.
struct Sources: Sendable {
    /// The values of flags by name; a flag that may be repeated has several.
    let flags: [String: [String]]
    /// The environment.
    let environment: @Sendable (String) -> String?
    /// The configuration file.
    let file: ConfigurationFile

    /// Makes sources, by default without a file.
    init(
        flags: [String: [String]], environment: @escaping @Sendable (String) -> String?,
        file: ConfigurationFile = .none
    ) {
        self.flags = flags
        self.environment = environment
        self.file = file
    }

    /// One value of a setting as text, with its source.
    struct Statement: Sendable, Hashable {
        let text: String
        let place: String
    }

    /// The value of a setting; nil if no source has one.
    func value<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> Value? {
        try values(setting, isList: false).last
    }

    /// The values of a setting that may be repeated. In a variable they are separated by commas.
    func list<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> [Value] {
        try values(setting, isList: true)
    }

    /// The values of a setting in the first source that has any.
    func statements(_ name: String, variable: String, isList: Bool) -> [Statement] {
        if let texts = flags[name], !texts.isEmpty {
            return texts.map { Statement(text: $0, place: "--\(name)") }
        }
        if let text = environment(variable), !text.isEmpty {
            let texts = isList ? text.split(separator: ",").map(String.init) : [text]
            return texts.map { Statement(text: $0, place: variable) }
        }
        return file.lines.filter { $0.name == name }.map { line in
            Statement(text: line.value, place: file.place(line))
        }
    }

    /// The values of a setting in the first source that has any.
    func statements(_ setting: ServeSetting) -> [Statement] {
        statements(setting.name, variable: setting.variable, isList: setting.isList)
    }

    /// The wrong values of settings, in the order of the settings.
    func problems(of settings: [ServeSetting]) -> [ConfigurationProblem] {
        settings.flatMap { setting in
            statements(setting).filter { !setting.accepts($0.text) }.map { said in
                ConfigurationProblem(
                    place: said.place, value: setting.shown(said.text),
                    allowed: setting.refusal(said.text) ?? setting.allowed)
            }
        }
    }

    /// Throws all wrong values of settings.
    func check(_ settings: [ServeSetting]) throws(ConfigurationProblems) {
        let wrong = problems(of: settings)
        if !wrong.isEmpty { throw ConfigurationProblems(all: wrong) }
    }

    /// The texts of these values.
    func texts(_ setting: ServeSetting) -> [String] { statements(setting).map(\.text) }

    private func values<Value>(
        _ setting: Setting<Value>, isList: Bool
    ) throws(ConfigurationProblem) -> [Value] {
        try statements(setting.name, variable: setting.variable, isList: isList).map {
            statement throws(ConfigurationProblem) in
            guard let value = setting.read(statement.text) else {
                throw ConfigurationProblem(
                    place: statement.place, value: statement.text,
                    allowed: setting.refusal(statement.text) ?? setting.allowed)
            }
            return value
        }
    }
}

/// A setting: its name, its allowed values, and the parser of its text.
struct Setting<Value: Sendable>: Sendable {
    /// The flag without dashes, such as `allow-host`; the variable is `UNDERSTUDY_ALLOW_HOST`.
    let name: String
    /// The allowed values, as part of a sentence.
    let allowed: String
    /// Its text in the configuration file; nil for a setting that is only a flag or variable.
    let about: SettingText?
    /// What a text that is not allowed must be, with its own reason; nil where ``allowed`` says it all.
    let refusal: @Sendable (String) -> String?
    /// Parses the text; nil if it is not allowed.
    let read: @Sendable (String) -> Value?

    /// Defines a setting.
    init(
        name: String, allowed: String, about: SettingText? = nil,
        refusal: @escaping @Sendable (String) -> String? = { _ in nil },
        read: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.allowed, self.about, self.read) = (name, allowed, about, read)
        self.refusal = refusal
    }

    /// The variable of the environment.
    var variable: String {
        "UNDERSTUDY_" + name.uppercased().split(separator: "-").joined(separator: "_")
    }
}

/// The description of a setting in the configuration file and in `config show`.
struct SettingText: Sendable {
    /// Its purpose in a sentence.
    let summary: String
    /// The default, as text.
    let standard: String
    /// An example of a value, for the commented file.
    let example: String
    /// Whether it may be repeated.
    let isList: Bool

    init(_ summary: String, standard: String, example: String, isList: Bool = false) {
        self.summary = summary
        self.standard = standard
        self.example = example
        self.isList = isList
    }
}

/// A setting with an invalid value.
struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source: a flag, a variable, or a file with its line.
    let place: String
    /// The invalid value.
    let value: String
    /// The allowed values, as part of a sentence.
    let allowed: String

    /// A sentence, and a second one where the value ends like a comment.
    var description: String {
        let comment = value.contains(" #") ? " A comment needs a line of its own." : ""
        return "\(statement), but must be \(allowed).\(comment)"
    }

    /// The place and its value, without a password, such as `--sync is "never"`.
    var statement: String { "\(place) is \"\(Self.withoutPassword(value))\"" }

    /// The text of one value without the user and password of an address. A password that has `/` in it, which
    /// is wrong, is left out too.
    static func withoutPassword(_ text: String) -> String {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let mark = parts[1].lastIndex(of: "@") else { return text }
        return "\(parts[0])://\(Redaction.secret)\(parts[1][mark...])"
    }

    /// The problem as the reason of a failed start.
    var startProblem: StartProblem { StartProblem(description, .usage) }
}

/// All problems of a configuration that were found at once.
struct ConfigurationProblems: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems; at least one.
    let all: [ConfigurationProblem]

    /// A line for each.
    var description: String { all.map(\.description).joined(separator: "\n") }
}

extension StartProblem {
    /// An error of reading settings as the reason of a failed start.
    init(reading error: any Error) {
        switch error {
        case let problem as StartProblem: self = problem
        case let problem as ConfigurationProblem: self = problem.startProblem
        case let problems as ConfigurationProblems: self.init(problems.description, .usage)
        default: self.init("\(error)")
        }
    }
}

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
