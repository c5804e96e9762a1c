import Glibc
import Platform
import Program
import Proxy

/// A command of this program as a person can type it into a shell.
struct TypedCommand: CustomStringConvertible {
    /// The words after the program's name.
    let words: [String]

    /// The command, with the program's full path unless the shell finds this program by its name.
    var description: String {
        guard let program = Self.realPath("/proc/self/exe") else {
            return Self.text(["understudy"] + words)
        }
        let folders = ThisProcess.environment("PATH")?.split(separator: ":") ?? []
        let found = folders.lazy.compactMap { Self.realPath("\($0)/understudy") }.first
        return Self.text([found == program ? "understudy" : program] + words)
    }

    private static func realPath(_ path: String) -> String? {
        // With no buffer given, realpath returns one that the caller frees.
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Words as a shell reads them; those with characters that a shell may interpret are quoted.
    static func text(_ words: [String]) -> String {
        words.map { word in
            let isPlain = word.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || "0123456789-_./:=@".utf8.contains(byte)
            }
            if isPlain, !word.isEmpty { return word }
            return "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: #"'\''"#) + "'"
        }.joined(separator: " ")
    }
}
