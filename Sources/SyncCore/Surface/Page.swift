/// One page of a list.
public struct Page<Element: Sendable>: Sendable {
    /// The elements.
    public var items: [Element]
    /// What to pass as `after` for the next page; nil at the end. Opaque.
    public var next: String?
    /// How many match in all.
    public var total: Int

    /// Makes a page.
    public init(items: [Element], next: String?, total: Int) {
        self.items = items
        self.next = next
        self.total = total
    }
}
