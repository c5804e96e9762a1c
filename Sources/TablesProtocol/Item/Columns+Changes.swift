extension Columns {
    /// The names whose values are not the same as in `base`, in order, those that only `base` has
    /// last. An absent column and null are the same.
    public func changedNames(from base: Columns) -> [String] {
        let mine = all
        let theirs = base.all
        let (myPlaces, theirPlaces) = (Self.places(mine), Self.places(theirs))
        let changed = mine.filter { column in
            let value = theirPlaces.place(of: column.name).map { theirs[$0].value }
            return !(value ?? .null).isSame(as: column.value)
        }
        let removed = theirs.filter {
            !$0.value.isNull && myPlaces.place(of: $0.name) == nil
        }
        return (changed + removed).map(\.name)
    }

    private static func places(_ columns: [Column]) -> NameTable {
        var places = NameTable()
        for column in columns { _ = places.insert(column.name) }
        return places
    }
}
