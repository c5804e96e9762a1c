/// Where settings come from: flags first, then the environment.
struct Sources {
    /// What flags said, by name; a flag that may be repeated has several values.
    let flags: [String: [String]]
    /// The environment.
    let environment: (String) -> String?

    /// The value of a setting, or nil when nothing says it.
    func value<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> Value? {
        try values(setting, separator: nil).last
    }

    /// The values of a setting that may be given several times; in a variable, with commas.
    func list<Value>(_ setting: Setting<Value>) throws(ConfigurationProblem) -> [Value] {
        try values(setting, separator: ",")
    }

    private func values<Value>(
        _ setting: Setting<Value>, separator: Character?
    ) throws(ConfigurationProblem) -> [Value] {
        if let texts = flags[setting.name], !texts.isEmpty {
            return try texts.map { text throws(ConfigurationProblem) in
                try read(text, setting, place: "--\(setting.name)")
            }
        }
        guard let text = environment(setting.variable), !text.isEmpty else { return [] }
        let texts = separator.map { text.split(separator: $0).map(String.init) } ?? [text]
        return try texts.map { text throws(ConfigurationProblem) in
            try read(text, setting, place: setting.variable)
        }
    }

    private func read<Value>(
        _ text: String, _ setting: Setting<Value>, place: String
    ) throws(ConfigurationProblem) -> Value {
        guard let value = setting.read(text) else {
            throw ConfigurationProblem(place: place, value: text, allowed: setting.allowed)
        }
        return value
    }
}
