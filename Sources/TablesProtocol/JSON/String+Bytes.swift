extension String {
    /// Whether both texts have the same bytes. Swift's `==` takes canonically equivalent texts for
    /// equal, but it is quick where it finds a difference.
    func hasSameBytes(as other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}
