extension Columns {
    /// Lays the columns of `changes` over these: values are replaced in place, new ones appended.
    public mutating func merge(_ changes: Columns) {
        for column in changes.all { self[column.name] = column.value }
    }

    /// The names whose values are not the same as in `base`, in order, those that only `base` has
    /// last. An absent column and null are the same.
    public func changedNames(from base: Columns) -> [String] {
        let mine = all
        let theirs = base.all
        let changed = mine.filter { column in
            let value = theirs.first { $0.name.utf8.elementsEqual(column.name.utf8) }?.value
            return !(value ?? .null).isSame(as: column.value)
        }
        let removed = theirs.filter { column in
            !column.value.isNull
                && !mine.contains { $0.name.utf8.elementsEqual(column.name.utf8) }
        }
        return (changed + removed).map(\.name)
    }
}
