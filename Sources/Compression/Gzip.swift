private import CZlib

/// The bytes as one gzip member (RFC 1952). Nil where that would not be smaller, and for none.
/// - Parameter bytes: less than 4 GiB.
package func gzipped(_ bytes: [UInt8]) -> [UInt8]? {
    guard let size = UInt32(exactly: bytes.count), size > 0 else { return nil }
    // zlib reads `size` bytes of `bytes` and writes fewer than `size` into the new array. It keeps neither
    // address after the call. The count is what it says to have written.
    let member = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
        unsafe bytes.withUnsafeBufferPointer { source in
            count = Int(
                unsafe understudy_gzip(source.baseAddress, size, buffer.baseAddress, size - 1))
        }
    }
    return member.isEmpty ? nil : member
}
