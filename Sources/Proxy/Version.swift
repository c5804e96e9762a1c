/// The version of this program.
enum Version {
    /// As `understudy --version` prints it.
    static let text = "0.1.0"
}
