import Digests
import Testing

@testable import Proxy

struct DigestTests {
    /// FIPS 180-4 examples. Digests on disk must stay valid in every later version.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("ü", "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f"),
    ])
    func `a digest has two lower case digits for each byte`(text: String, digest: String) {
        #expect(SHA256.hex(text) == digest)
    }

    @Test func `a digest of pieces is that of the whole, and the next one begins anew`() {
        let text = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var running = SHA256.Running()
        for piece in [text[..<1], text[1..<64], text[64...]] { running.take(piece) }
        #expect(running.digest() == SHA256.hash(text))
        #expect(running.digest() == SHA256.hash([]))
        running.take(text[...])
        #expect(running.digest() == SHA256.hash(text))
    }
}
