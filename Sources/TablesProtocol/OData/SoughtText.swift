/// A text that is looked for in others, in time bounded by the sum of both lengths: the text is never
/// gone back in (Knuth, Morris and Pratt).
struct SoughtText<Unit: Equatable> {
    private let units: [Unit]
    /// For each beginning of the units, how long the longest shorter beginning is with which it ends.
    private let borders: [Int]

    /// Looks for these units.
    init(_ units: some Sequence<Unit>) {
        self.units = Array(units)
        var borders: [Int] = []
        borders.reserveCapacity(self.units.count)
        var border = 0
        for place in self.units.indices {
            if place > 0 {
                while border > 0, self.units[place] != self.units[border] {
                    border = borders[border - 1]
                }
                if self.units[place] == self.units[border] { border += 1 }
            }
            borders.append(border)
        }
        self.borders = borders
    }

    /// The first place in `text`, from `start` on, where the units stand; nil where they do not.
    func first(in text: [Unit], from start: Int = 0) -> Int? {
        if units.isEmpty { return start }
        var found = 0
        var place = start
        while place < text.count {
            while found > 0, text[place] != units[found] { found = borders[found - 1] }
            if text[place] == units[found] { found += 1 }
            place += 1
            if found == units.count { return place - found }
        }
        return nil
    }
}
