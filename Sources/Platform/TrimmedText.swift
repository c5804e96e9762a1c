extension Substring {
    /// The text without the characters at both ends for which `condition` is true.
    package func trimming(_ condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
