import Glibc

/// A call to the operating system about a file that failed.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was being done, for example `create the folder /data`.
    package let action: String
    /// The `errno` of the call.
    package let code: CInt

    /// Takes `errno` as it stands.
    package init(_ action: String, code: CInt = errno) {
        self.action = action
        self.code = code
    }

    /// The system's words for the code.
    package var reason: String {
        // The C string belongs to the C library and is copied at once.
        unsafe String(cString: strerror(code))
    }

    /// One sentence.
    package var description: String { "Cannot \(action): \(reason)." }
}
