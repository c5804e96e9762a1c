import Glibc

/// A failed system call on a file.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The action as a verb phrase, for example `create the folder /data`.
    package let action: String
    /// The `errno` of the call.
    package let code: CInt

    /// Makes a failure; by default with the current `errno`.
    package init(_ action: String, code: CInt = errno) {
        self.action = action
        self.code = code
    }

    /// The system's text for the code.
    package var reason: String {
        // The C string belongs to the C library and is copied at once.
        unsafe String(cString: strerror(code))
    }

    /// One sentence.
    package var description: String { "Cannot \(action): \(reason)." }
}
