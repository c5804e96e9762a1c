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
