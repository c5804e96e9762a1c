public import HTTPTypes

extension HTTPField.Name {
    /// Makes a name from a literal that is a token.
    public static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else {
            preconditionFailure("\(name) is a literal token")
        }
        return name
    }
}
