package import Platform

/// The sources of settings: flags win over the environment, which wins over the configuration file.
package struct Sources: Sendable {
    /// The values of flags by name; a flag that may be repeated has several.
    package let flags: [String: [String]]
    package let environment: @Sendable (String) -> String?
    package let file: ConfigurationFile

    /// Makes sources, by default without a file.
    package init(
        flags: [String: [String]], environment: @escaping @Sendable (String) -> String?,
        file: ConfigurationFile = .none
    ) {
        self.flags = flags
        self.environment = environment
        self.file = file
    }

    /// One value of a setting as text, with its source.
    package struct Statement: Sendable, Hashable {
        package let text: String
        package let place: String
    }

    /// The value of a setting; nil if no source has one.
    package func value<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> Value? {
        try values(setting, isList: false).last
    }

    /// The value of a setting, or its default where no source has one. The default has to be a value.
    package func valueOrDefault<Value>(
        _ setting: Setting<Value>
    ) throws(ConfigurationProblem) -> Value {
        if let value = try value(setting) { return value }
        guard let standard = setting.read(setting.about.standard) else {
            preconditionFailure("The default of \(setting.name) is no value of it.")
        }
        return standard
    }

    /// The values of a setting that may be repeated. In a variable they are separated by commas.
    package func list<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> [Value] {
        try values(setting, isList: true)
    }

    /// The values of a setting in the first source that has any.
    package func statements(_ name: String, variable: String, isList: Bool) -> [Statement] {
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
    package func statements(_ setting: ServeSetting) -> [Statement] {
        statements(setting.name, variable: setting.variable, isList: setting.about.isList)
    }

    /// The wrong values of settings, in the order of the settings.
    package func problems(of settings: [ServeSetting]) -> [ConfigurationProblem] {
        settings.flatMap { setting in
            statements(setting).filter { !setting.accepts($0.text) }.map { said in
                ConfigurationProblem(
                    place: said.place, value: setting.shown(said.text),
                    allowed: setting.refusal(said.text) ?? setting.allowed)
            }
        }
    }

    /// Throws all wrong values of settings.
    package func check(_ settings: [ServeSetting]) throws(ConfigurationProblems) {
        let wrong = problems(of: settings)
        if !wrong.isEmpty { throw ConfigurationProblems(all: wrong) }
    }

    /// The texts of these values.
    package func texts(_ setting: ServeSetting) -> [String] { statements(setting).map(\.text) }

    private func values<Value>(
        _ setting: Setting<Value>, isList: Bool
    ) throws(ConfigurationProblem) -> [Value] {
        try statements(setting.name, variable: setting.variable, isList: isList).map {
            statement throws(ConfigurationProblem) in
            guard let value = setting.read(statement.text) else {
                throw ConfigurationProblem(
                    place: statement.place, value: ServeSetting(setting).shown(statement.text),
                    allowed: setting.refusal(statement.text) ?? setting.allowed)
            }
            return value
        }
    }
}

/// A setting with an invalid value.
package struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source: a flag, a variable, or a file with its line.
    package let place: String
    package let value: String
    /// The allowed values, as part of a sentence.
    package let allowed: String

    package init(place: String, value: String, allowed: String) {
        (self.place, self.value, self.allowed) = (place, value, allowed)
    }

    /// A sentence, and a second one where the value ends like a comment.
    package var description: String {
        let comment = value.contains(" #") ? " A comment needs a line of its own." : ""
        return "\(statement), but must be \(allowed).\(comment)"
    }

    /// The place and its value, without a password, such as `--sync is "never"`.
    package var statement: String { "\(place) is \"\(Self.withoutPassword(value))\"" }

    /// What stands for a user and password.
    package static let hidden = "(kept secret)"

    /// The text of one value without the user and password of an address. A password that has `/` in it, which
    /// is wrong, is left out too.
    package static func withoutPassword(_ text: String) -> String {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let mark = parts[1].lastIndex(of: "@") else { return text }
        return "\(parts[0])://\(hidden)\(parts[1][mark...])"
    }

    /// The problem as the reason of a failed start.
    package var startProblem: StartProblem { StartProblem(description, .usage) }
}

/// All problems of a configuration that were found at once.
package struct ConfigurationProblems: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems; at least one.
    package let all: [ConfigurationProblem]

    package var description: String { all.map(\.description).joined(separator: "\n") }
}

extension StartProblem {
    /// An error of reading settings as the reason of a failed start.
    package init(reading error: any Error) {
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
package struct UnknownVariable: Sendable, Hashable, CustomStringConvertible {
    package let name: String
    /// What to do: the nearest known name, if one is near.
    package let advice: String

    private static let prefix = "UNDERSTUDY_"

    /// Those among the names of an environment.
    /// - Parameters:
    ///   - settings: those of the program.
    ///   - others: the other variables that it reads.
    ///   - program: its name.
    package static func all(
        _ names: [String], settings: [ServeSetting], others: [String] = [], of program: String
    ) -> [UnknownVariable] {
        let known = settings.map(\.variable) + [ConfigurationFile.variable] + others
        return names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted().map { name in
            // The prefix, which all have, would make any two names near.
            let near = NearestName.of(
                String(name.dropFirst(prefix.count)),
                in: known.map { String($0.dropFirst(prefix.count)) })
            let reason = Settings.removed.first { ServeSetting.variable($0.key) == name }?.value
            return UnknownVariable(
                name: name,
                advice: reason.map { "That setting is gone, because \($0)." }
                    ?? near.map { "Did you mean \(prefix)\($0)?" }
                    ?? "`\(program) config show` has the settings; take the variable out if it is not "
                    + "for Understudy.")
        }
    }

    /// One or two sentences.
    package var description: String {
        "The variable \(name) is not known, and changes nothing. \(advice)"
    }
}
