import Proxy

/// Where settings come from: flags first, then the environment, then the configuration file.
struct Sources: Sendable {
    /// What flags said, by name; a flag that may be repeated has several values.
    let flags: [String: [String]]
    /// The environment.
    let environment: @Sendable (String) -> String?
    /// The configuration file.
    let file: ConfigurationFile

    /// Makes sources; without a file unless one is given.
    init(
        flags: [String: [String]], environment: @escaping @Sendable (String) -> String?,
        file: ConfigurationFile = .none
    ) {
        self.flags = flags
        self.environment = environment
        self.file = file
    }

    /// One text of a setting with the place where it stands.
    struct Stated: Sendable, Hashable {
        let text: String
        let place: String
    }

    /// The value of a setting, or nil when nothing says it.
    func value<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> Value? {
        try values(setting, isList: false).last
    }

    /// The values of a setting that may be given several times; in a variable, with commas.
    func list<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> [Value] {
        try values(setting, isList: true)
    }

    /// What is said of a setting, by the first of flags, environment and file that says anything.
    func said(_ name: String, variable: String, isList: Bool) -> [Stated] {
        if let texts = flags[name], !texts.isEmpty {
            return texts.map { Stated(text: $0, place: "--\(name)") }
        }
        if let text = environment(variable), !text.isEmpty {
            let texts = isList ? text.split(separator: ",").map(String.init) : [text]
            return texts.map { Stated(text: $0, place: variable) }
        }
        return file.lines.filter { $0.name == name }.map { line in
            Stated(text: line.value, place: file.place(line))
        }
    }

    /// What is said of a setting.
    func said(_ setting: ServeSetting) -> [Stated] {
        said(setting.name, variable: setting.variable, isList: setting.isList)
    }

    /// The texts that are said of a setting.
    func texts(_ setting: ServeSetting) -> [String] { said(setting).map(\.text) }

    private func values<Value>(
        _ setting: Setting<Value>, isList: Bool
    ) throws(ConfigurationProblem) -> [Value] {
        try said(setting.name, variable: setting.variable, isList: isList).map {
            said throws(ConfigurationProblem) in
            guard let value = setting.read(said.text) else {
                throw ConfigurationProblem(
                    place: said.place, value: said.text, allowed: setting.allowed)
            }
            return value
        }
    }
}

/// One thing that can be configured: its name, what it may say, and how the text is read.
struct Setting<Value: Sendable>: Sendable {
    /// The flag without dashes, such as `allow-host`; the variable is `UNDERSTUDY_ALLOW_HOST`.
    let name: String
    /// What it may say, for the sentence when it does not.
    let allowed: String
    /// What the configuration file says of it; nil for a setting that only a flag can say.
    let about: SettingText?
    /// Reads the text; nil when it is not allowed.
    let read: @Sendable (String) -> Value?

    /// Defines a setting.
    init(
        name: String, allowed: String, about: SettingText? = nil,
        read: @escaping @Sendable (String) -> Value?
    ) {
        (self.name, self.allowed, self.about, self.read) = (name, allowed, about, read)
    }

    /// The variable of the environment.
    var variable: String {
        "UNDERSTUDY_" + name.uppercased().split(separator: "-").joined(separator: "_")
    }
}

/// What a person reads of a setting, in the configuration file and in `config show`.
struct SettingText: Sendable {
    /// What it is for, in a sentence.
    let summary: String
    /// What holds when nothing is said.
    let standard: String
    /// A value to begin with, for the commented file.
    let example: String
    /// Whether it may be said several times.
    let isList: Bool

    init(_ summary: String, standard: String, example: String, isList: Bool = false) {
        self.summary = summary
        self.standard = standard
        self.example = example
        self.isList = isList
    }
}

/// A setting that cannot be used: where it stands, what it says, what is allowed.
struct ConfigurationProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The flag or variable.
    let place: String
    /// What it says.
    let value: String
    /// What it may say.
    let allowed: String

    /// One sentence.
    var description: String { "\(place) is \"\(value)\", but must be \(allowed)." }

    /// As a reason not to start.
    var startProblem: StartProblem { StartProblem(description, .usage) }
}
