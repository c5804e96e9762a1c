import TestSupport
import Testing

@testable import Proxy

struct SealTests {
    private let seal = Seal(secret: Array("a secret of at least thirty-two bytes".utf8))
    private let plain = Array("a token".utf8)

    @Test func `a sealed text opens with the same secret only`() {
        let sealed = seal.close(plain)
        #expect(
            Seal(secret: Array("a secret of at least thirty-two bytes".utf8)).open(sealed)
                == .plain(plain))
        #expect(
            Seal(secret: Array("a secret of at least thirty-two byteS".utf8)).open(sealed)
                == .otherKey)
    }

    @Test func `a sealed text shows nothing of the text, and two of one text differ`() {
        let (one, two) = (seal.close(plain), seal.close(plain))
        #expect(one != two)
        for sealed in [one, two] {
            #expect(!String(decoding: sealed, as: UTF8.self).contains("token"))
        }
        #expect(seal.open(seal.close([])) == .plain([]))
    }

    @Test func `one changed, missing or added byte is detected`() {
        let sealed = seal.close(plain)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                let opened = seal.open(changed)
                #expect(opened == .damaged || opened == .otherKey, "byte \(index) bit \(bit)")
            }
            #expect(seal.open(Array(sealed[..<index])) == .damaged, "cut at \(index)")
        }
        #expect(seal.open(sealed + [0]) == .damaged)
    }

    @Test func `random bytes are no sealed text`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed)
        let sealed = seal.close(plain)
        let end = sealed.firstIndex(of: UInt8(ascii: "\n")) ?? 0
        for _ in 0..<200 {
            let count = Int.random(in: 0..<200, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(seal.open(bytes) == .damaged, "seed \(seed)")
            #expect(seal.open(Array(sealed[...end]) + bytes) == .damaged, "seed \(seed)")
        }
    }
}
