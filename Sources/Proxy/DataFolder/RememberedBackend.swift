import TablesProtocol

/// The backend that a data folder belongs to.
///
/// What waits in the queue was written for one backend; it must not be sent to another by a
/// mistyped address. As long as the remembered one never answered as a tables backend nothing was
/// ever exchanged with it, so another one is simply taken.
struct RememberedBackend: Sendable, Hashable {
    /// Its address.
    var url: String
    /// Whether it ever answered as a tables backend.
    var hasAnswered: Bool

    /// What a start with an address finds.
    enum Match: Sendable, Hashable {
        case same
        case taken
        /// Nothing queued may be sent.
        case different(remembered: String)
    }

    /// Compares the address of this start with the remembered one.
    static func match(_ remembered: RememberedBackend?, url: String, rebind: Bool) -> Match {
        guard let remembered, remembered.url != url else {
            return remembered == nil ? .taken : .same
        }
        return remembered.hasAnswered && !rebind ? .different(remembered: remembered.url) : .taken
    }

    /// Reads the file of a data folder.
    static func load(_ folder: DataFolder) -> RememberedBackend? {
        guard let bytes = try? Files.read(file(folder)), let value = try? JSONValue(parsing: bytes),
            let url = value["url"]?.string
        else { return nil }
        return RememberedBackend(url: url, hasAnswered: value["hasAnswered"]?.bool ?? false)
    }

    /// Writes the file.
    func save(_ folder: DataFolder) throws(FileFailure) {
        let value = JSONValue.object([
            .init("url", .string(url)), .init("hasAnswered", .bool(hasAnswered)),
        ])
        try Files.write(Self.file(folder), Array("\(value.text)\n".utf8))
    }

    private static func file(_ folder: DataFolder) -> String { "\(folder.path)/backend" }
}
