/// One word of an expression.
struct Token: Equatable {
    /// What it is.
    enum Kind: Equatable {
        case identifier(String)
        case literal(Expression.Literal)
        case open, close, comma, colon, slash, minus
        case end
    }

    let kind: Kind
    /// Its first byte in the option's decoded value.
    let position: Int

    /// How an error names it.
    var name: String {
        switch kind {
        case .identifier(let name): "'\(name)'"
        case .literal: "a constant"
        case .open: "'('"
        case .close: "')'"
        case .comma: "','"
        case .colon: "':'"
        case .slash: "'/'"
        case .minus: "'-'"
        case .end: "the end"
        }
    }
}
