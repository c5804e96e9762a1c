import Glibc
import Platform
import Program
import Proxy

/// The user's browser on this machine.
enum Browser {
    static var hasDisplay: Bool {
        ThisProcess.environment("DISPLAY") != nil
            || ThisProcess.environment("WAYLAND_DISPLAY") != nil
    }

    /// Opens a file with `xdg-open`; false if that is not installed. Every user of the machine can read the
    /// arguments of a process, so the path must have no secret in it.
    static func open(_ file: String) -> Bool {
        let folder = ThisProcess.folder ?? ""
        let path = file.hasPrefix("/") ? file : "\(folder)/\(file)"
        var process = pid_t()
        // The two copies live until the call has returned, which copies them for the child.
        let program = unsafe strdup("xdg-open")
        let argument = unsafe strdup(path)
        defer {
            unsafe free(program)
            unsafe free(argument)
        }
        var arguments = unsafe [program, argument, nil]
        return unsafe posix_spawnp(&process, "xdg-open", nil, nil, &arguments, environ) == 0
    }

    /// Writes and opens a page that redirects to a one-time link; false if that fails.
    static func open(_ page: SignInPage?) -> Bool {
        guard let page else { return false }
        do {
            try page.write()
        } catch {
            return false
        }
        return open(page.file)
    }
}
