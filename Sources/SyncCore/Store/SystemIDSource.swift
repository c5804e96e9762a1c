import Glibc
import Synchronization

/// Random words of the system, many at a time: a write takes six, and a call into the kernel costs as
/// much as a dozen words do.
public final class SystemIDSource: IDSource {
    private let words = Mutex<[UInt64]>([])

    public init() {}

    /// 64 random bits.
    public func next() -> UInt64 {
        words.withLock { words in
            if words.isEmpty { words = Self.fetch() }
            return words.removeLast()
        }
    }

    private static func fetch() -> [UInt64] {
        var words = [UInt64](repeating: 0, count: StoreLimits.randomWords)
        // Sound: no more is written than the bytes that are given, which live through the call.
        let result = unsafe words.withUnsafeMutableBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe getentropy($0, bytes.count) }
        }
        if result == 0 { return words }
        // An old kernel, or one that may not be asked so: word by word, as the standard library can.
        return words.map { _ in UInt64.random(in: .min ... .max) }
    }
}
