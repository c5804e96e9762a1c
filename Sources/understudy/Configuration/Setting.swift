/// One thing that can be configured: its name, what it may say, and how the text is read.
struct Setting<Value: Sendable>: Sendable {
    /// The flag without dashes, such as `allow-host`; the variable is `UNDERSTUDY_ALLOW_HOST`.
    let name: String
    /// What it may say, for the sentence when it does not.
    let allowed: String
    /// Reads the text; nil when it is not allowed.
    let read: @Sendable (String) -> Value?

    /// The variable of the environment.
    var variable: String {
        "UNDERSTUDY_" + name.uppercased().split(separator: "-").joined(separator: "_")
    }
}
