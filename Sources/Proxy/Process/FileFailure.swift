import Glibc

/// A call to the operating system about a file that failed.
struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was being done, for example `create the folder /data`.
    let action: String
    /// The `errno` of the call.
    let code: CInt

    /// Takes `errno` as it stands.
    init(_ action: String, code: CInt = errno) {
        self.action = action
        self.code = code
    }

    /// The system's words for the code.
    var reason: String {
        // The C string belongs to the C library and is copied at once.
        unsafe String(cString: strerror(code))
    }

    /// One sentence.
    var description: String { "Cannot \(action): \(reason)." }
}
