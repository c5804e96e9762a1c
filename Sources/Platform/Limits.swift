/// Every limit of this module, with its unit.
package enum Limits {
    /// Characters of a name that a message repeats or compares.
    package static let namedCharacters = 100
    /// Bytes that have to be free on a disk for a database to be opened there as usual.
    package static let openingBytes = 64 << 10
    /// Bytes of a piece of a small file that is read.
    static let smallFilePieceBytes = 4096
    /// Bytes of a piece of a file that is read or written.
    package static let filePieceBytes = 1 << 16
}
