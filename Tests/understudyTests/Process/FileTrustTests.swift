import Foundation
import Glibc
import Testing

@testable import Platform
@testable import Program
@testable import Proxy
@testable import understudy

/// Which files and folders are trusted, and which are refused.
@Suite struct FileTrustTests {
    private func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/understudy-\(UUID().uuidString)"
        try Files.makeNewFolder(path)
        return path
    }

    @Test func `a folder's socket is trusted if only its owner can have made it`() throws {
        let path = try folder()
        defer { try? Files.removeFolder(path) }
        try Files.write("\(path)/lock", [])
        func fault(_ owner: UInt32, _ permissions: UInt32, _ user: UInt32) -> String? {
            DataFolder(path: path).fault(
                Files.Status(owner: owner, permissions: permissions), user: user)
        }
        for permissions: UInt32 in [0o700, 0o750, 0o755] {
            #expect(fault(1000, permissions, 1000) == nil)
            #expect(fault(1000, permissions, 0) == nil)
            #expect(fault(1000, permissions, 1001)?.contains("another user") == true)
        }
        for permissions: UInt32 in [0o720, 0o702, 0o777] {
            for user: UInt32 in [1000, 0] {
                #expect(fault(1000, permissions, user)?.contains("chmod -R go=") == true)
            }
        }
    }

    @Test
    func `permissions are advised only for a folder that has nothing but what this program makes`()
        throws
    {
        let path = try folder()
        defer { try? Files.removeFolder(path) }
        let folder = DataFolder(path: path)
        #expect(!folder.isUnderstudys && !folder.adviceToClose.contains("chmod"))
        for name in ["lock", "operator.token.new", "stores.before-20261121", "open-12ab.html"] {
            try Files.write("\(path)/\(name)", [])
        }
        #expect(folder.isUnderstudys && folder.adviceToClose.hasSuffix("chmod -R go= '\(path)'"))
        try Files.write("\(path)/passwd", [])
        #expect(!folder.isUnderstudys && !folder.adviceToClose.contains("chmod"))
        #expect(!folder.foreignFolder(.init(owner: 1, permissions: 0o755)).contains("sudo"))
    }

    @Test func `a configuration file is trusted if only this user or root can have written it`() {
        func fault(_ owner: UInt32, _ permissions: UInt32, _ user: UInt32) -> String? {
            ConfigurationFile.fault(
                Files.Status(owner: owner, permissions: permissions), user: user, path: "/c")
        }
        for permissions: UInt32 in [0o600, 0o640, 0o644, 0o444] {
            #expect(fault(1000, permissions, 1000) == nil)
            #expect(fault(0, permissions, 1000) == nil)
            #expect(fault(1000, permissions, 1001)?.contains("another user") == true)
            #expect(fault(1000, permissions, 0)?.contains("another user") == true)
            #expect(fault(1000, permissions, 0)?.contains("chown") == false)
        }
        for permissions: UInt32 in [0o620, 0o602, 0o666] {
            #expect(fault(1000, permissions, 1000)?.contains("chmod go-w") == true)
            #expect(fault(0, permissions, 1000)?.contains("chmod go-w") == true)
        }
    }

    @Test func `a secret is refused where other users can read it`() {
        func fault(_ owner: UInt32, _ permissions: UInt32) -> String? {
            Files.Status(owner: owner, permissions: permissions).secretFault(path: "/s")
        }
        for permissions: UInt32 in [0o400, 0o600, 0o700] {
            #expect(fault(0, permissions) == nil)
            #expect(fault(1000, permissions) == nil)
        }
        // The group of a service reads what root has put there for it.
        for permissions: UInt32 in [0o440, 0o640] {
            #expect(fault(0, permissions) == nil)
            #expect(fault(1000, permissions)?.contains("chmod go= '/s'") == true)
        }
        for permissions: UInt32 in [0o444, 0o604, 0o644, 0o666] {
            #expect(fault(0, permissions)?.contains("chmod o= '/s'") == true)
            #expect(fault(1000, permissions)?.contains("chmod go= '/s'") == true)
        }
    }

    @Test func `a pipe, a folder and a device are refused without waiting`()
        throws
    {
        let folder = try folder()
        defer { try? Files.removeFolder(folder) }
        // mkfifo keeps nothing of the path, which is lent for the call.
        let made = unsafe mkfifo("\(folder)/pipe", 0o600)
        #expect(made == 0)
        for path in ["\(folder)/pipe", folder, "/dev/zero"] {
            #expect(throws: InputFile.Refusal.noRegularFile(path)) { _ = try InputFile(path) }
            #expect(!Files.isRegular(path))
        }
        #expect(throws: InputFile.Refusal.noRegularFile(folder)) {
            _ = try InputFile(folder, streams: true)
        }
        try Files.write("\(folder)/file", Array("mine".utf8))
        #expect(Files.isRegular("\(folder)/file"))
        #expect(try InputFile("\(folder)/file")?.bytes(atMost: 4) == Array("mine".utf8))
        let none = try InputFile("\(folder)/none")
        #expect(none == nil)
    }

    @Test func `a short path of a socket is used unchanged, a long one through its folder`() throws
    {
        let folder = try folder()
        defer { try? Files.removeFolder(folder) }
        let short = try SocketPath(folder, name: "socket")
        #expect(short.path == "\(folder)/socket")
        short.close()
        let deep = folder + "/" + String(repeating: "a", count: 120)
        try Files.makeNewFolder(deep)
        let long = try SocketPath(deep, name: "socket")
        defer { long.close() }
        #expect(
            long.path.hasPrefix("/proc/self/fd/")
                && long.path.utf8.count <= understudy.Limits.socketPathBytes)
        try Files.write(long.path, Array("x".utf8))
        #expect(try Files.read("\(deep)/socket") == Array("x".utf8))
        #expect(throws: FileFailure.self) { try SocketPath(deep + "/none", name: "socket") }
    }
}
