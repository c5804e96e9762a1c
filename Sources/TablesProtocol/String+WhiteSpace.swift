extension StringProtocol {
    /// The text without the white space around it: blanks, line ends and what else Unicode calls so.
    var withoutOuterSpace: String {
        let start = unicodeScalars.drop { $0.properties.isWhitespace }
        let end = start.reversed().drop { $0.properties.isWhitespace }
        return String(String.UnicodeScalarView(end.reversed()))
    }
}
