extension Columns {
    /// The names whose values are not the same as in `base`, in order, those that only `base` has
    /// last. An absent column and null are the same.
    public func changedNames(from base: Columns) -> [String] {
        let mine = all
        let theirs = base.all
        let changed = mine.filter { column in
            let value = theirs.first { $0.isNamed(column.name) }?.value
            return !(value ?? .null).isSame(as: column.value)
        }
        let removed = theirs.filter { column in
            !column.value.isNull
                && !mine.contains { $0.isNamed(column.name) }
        }
        return (changed + removed).map(\.name)
    }
}
