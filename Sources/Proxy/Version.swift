/// The version of this program.
package enum Version {
    /// As `understudy --version` prints it.
    package static let text = "0.1.0"
}
