import Foundation
import Glibc
import Platform
import Testing

@testable import Proxy

/// Links that are not followed, and names that reveal no secret.
@Suite struct FilesTests {
    private func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/understudy-\(UUID().uuidString)"
        try Files.makeNewFolder(path)
        return path
    }

    @Test func `a key of an identity has lower case letters, digits and dashes`() {
        for key in [
            "anonymous", "ana-0123456789abcdef01234567", "a", String(repeating: "a", count: 65),
        ] {
            #expect(Identity.isKey(key))
        }
        for key in [
            "", "a\nb", "..", ".", "a/b", "A", "a b", "é", String(repeating: "a", count: 66),
        ] {
            #expect(!Identity.isKey(key))
        }
    }

    @Test func `a link next to a file is not followed`() throws {
        let folder = try folder()
        defer { try? Files.removeFolder(folder) }
        try Files.write("\(folder)/victim", Array("precious".utf8))
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/file.new", withDestinationPath: "\(folder)/victim")
        try Files.write("\(folder)/file", Array("mine".utf8))
        #expect(try Files.read("\(folder)/victim") == Array("precious".utf8))
        #expect(try Files.read("\(folder)/file") == Array("mine".utf8))
        #expect(Set(Files.names(in: folder)) == ["victim", "file"])
    }

    @Test func `a new folder is not made where anything is, also a link`() throws {
        let folder = try folder()
        defer { try? Files.removeFolder(folder) }
        try Files.makeNewFolder("\(folder)/there")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/link", withDestinationPath: "\(folder)/nowhere")
        for name in ["there", "link"] {
            #expect(throws: FileFailure("create the folder \(folder)/\(name)", code: EEXIST)) {
                try Files.makeNewFolder("\(folder)/\(name)")
            }
        }
        #expect(Set(Files.names(in: folder)) == ["there", "link"])
    }

    @Test func `a sign-in page redirects to its link, and its name reveals nothing of the link`()
        throws
    {
        let folder = DataFolder(path: try folder())
        defer { try? Files.removeFolder(folder.path) }
        let page = try #require(SignInPage(folder, url: "http://h:1/-/#link=a\"<&>b"))
        #expect(
            page.text.contains(#"content="0;url=http://h:1/-/#link=a&quot;&lt;&amp;&gt;b""#))
        #expect(SignInPage(folder, url: "http://h:1/-/") == nil)
        let other = try #require(SignInPage(folder, url: "http://h:1/-/#link=other"))
        try page.write()
        try other.write()
        #expect(Files.status(page.file)?.permissions == 0o600)
        SignInPage.remove(folder, link: "other")
        #expect(!Files.exists(other.file) && Files.exists(page.file))
        SignInPage.removeAll(folder)
        #expect(Files.names(in: folder.path).isEmpty)
    }
}
