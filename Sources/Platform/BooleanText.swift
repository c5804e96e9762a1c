/// A boolean as a person writes it: in settings, variables of the environment and parameters of a query. JSON
/// has its own.
package enum BooleanText {
    /// The allowed texts, as part of a sentence.
    package static let allowed = "yes, no, true or false"

    /// The value of a text; nil for any other.
    package static func value(_ text: String) -> Bool? {
        switch text {
        case "yes", "true": true
        case "no", "false": false
        default: nil
        }
    }
}
