import Glibc

/// A failed system call on a file, or a file that is of another kind than expected.
package struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The action as a verb phrase, for example `create the folder /data`.
    package let action: String
    /// The `errno` of the call.
    package let code: CInt
    /// The system's text for the code, or what is wrong with the file.
    package let reason: String

    /// Makes a failure; by default with the current `errno`.
    package init(_ action: String, code: CInt = errno) {
        self.action = action
        self.code = code
        // The C string belongs to the C library and is copied at once.
        reason = unsafe String(cString: strerror(code))
    }

    /// The failure to open a pipe, a socket, a device or a folder as a file. To read a pipe would block.
    init(noRegularFile action: String) {
        self.action = action
        code = EINVAL
        reason = "it is a pipe, a socket, a device or a folder, and has to be a regular file"
    }

    /// One sentence.
    package var description: String { "Cannot \(action): \(reason)." }
}
