/// A setting without the type of its value, for the configuration file, `config show` and
/// `config init`.
package struct ServeSetting: Sendable {
    /// The flag without dashes.
    package let name: String
    /// The variable of the environment.
    package let variable: String
    /// The allowed values, as part of a sentence.
    package let allowed: String
    /// Its purpose in a sentence.
    package let summary: String
    /// The default, as text.
    package let standard: String
    /// An example of a value, for the commented file.
    package let example: String
    /// Whether it may be repeated.
    package let isList: Bool
    /// Whether a text is an allowed value.
    package let accepts: @Sendable (String) -> Bool
    /// See ``Setting/refusal``.
    package let refusal: @Sendable (String) -> String?
    /// Whether its value may hold a password, and is not shown.
    package let isSecret: Bool

    /// What stands for such a value.
    package static let notShown = "(not shown)"

    /// A value as messages show it.
    package func shown(_ text: String) -> String {
        isSecret ? Self.notShown : ConfigurationProblem.withoutPassword(text)
    }

    package init<Value>(_ setting: Setting<Value>, isSecret: Bool = false) {
        guard let about = setting.about else {
            preconditionFailure("A setting of the configuration file says what it is for.")
        }
        name = setting.name
        variable = setting.variable
        allowed = setting.allowed
        summary = about.summary
        standard = about.standard
        example = about.example
        isList = about.isList
        accepts = { setting.read($0) != nil }
        refusal = setting.refusal
        self.isSecret = isSecret
    }
}
