import Synchronization

/// The memory for bodies that requests bring, over all connections of a server.
///
/// A small body costs nothing: as many as there are connections are little. What a body holds beyond
/// ``Limits/smallBodyBytes`` is taken from one total.
final class BodyMemory: Sendable {
    private let free: Atomic<Int>

    /// So many bytes, all free.
    init(bytes: Int) { free = Atomic(bytes) }

    /// The bytes that nothing holds.
    var freeBytes: Int { free.load(ordering: .relaxed) }

    /// Takes bytes; false, taking none, where fewer are free.
    func take(_ bytes: Int) -> Bool {
        let left = free.subtract(bytes, ordering: .relaxed).newValue
        if left >= 0 || bytes == 0 { return true }
        giveBack(bytes)
        return false
    }

    /// Gives bytes back that were taken.
    func giveBack(_ bytes: Int) { free.add(bytes, ordering: .relaxed) }
}
