/// A library with its version.
package struct Library: Codable, Sendable, Hashable {
    package let name: String
    /// As the library itself gives it.
    package let version: String

    /// Makes a library from its parts.
    package init(name: String, version: String) {
        self.name = name
        self.version = version
    }
}
