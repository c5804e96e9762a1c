import TablesProtocol
import Testing

@testable import Signatures

/// Signatures by other programs, and what is no signature.
struct SignatureTests {
    // The examples of RFC 7515, appendix A.
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4"
        + "QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs"
        + "LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8"
        + "NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    private static let rsaSignature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5juj"
        + "Gbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0"
        + "GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6Lbg"
        + "GY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    private static let curveSignature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64.decoded(text[...]))
    }

    private static func signed(_ head: String) -> [UInt8] { Array("\(head).\(claims)".utf8) }

    private static func rsa(
        _ modulus: [UInt8]? = nil, exponent: [UInt8] = [1, 0, 1]
    ) throws -> VerifyingKey? {
        VerifyingKey(
            modulus: try modulus ?? bytes(Self.modulus), exponent: exponent, bits: 2048...8192)
    }

    @Test func `the code of RFC 7515, A.1, is made`() throws {
        let key = try Self.bytes(
            "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
        )
        let code = MessageCode(
            of: Self.signed("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"), key: key)
        #expect(
            code.bytes == (try Self.bytes("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")))
    }

    @Test func `the signature of RFC 7515, A.2, is one of RSA, in its own length alone`() throws {
        let key = try #require(try Self.rsa())
        let text = Self.signed("eyJhbGciOiJSUzI1NiJ9")
        let signature = try Self.bytes(Self.rsaSignature)
        #expect(key.verifies(signature, of: text))
        #expect(
            try #require(try Self.rsa([0, 0] + Self.bytes(Self.modulus))).verifies(
                signature, of: text))
        #expect(!key.verifies([0] + signature, of: text))
        #expect(!key.verifies(Array(signature.dropLast()), of: text))
        #expect(!key.verifies([], of: text))
        #expect(!key.verifies(signature, of: text + [0]))
    }

    @Test func `the signature of RFC 7515, A.3, is one of the curve, as two numbers alone`() throws
    {
        let (x, y) = (try Self.bytes(Self.x), try Self.bytes(Self.y))
        let key = try #require(VerifyingKey(x: x, y: y))
        let text = Self.signed("eyJhbGciOiJFUzI1NiJ9")
        let signature = try Self.bytes(Self.curveSignature)
        #expect(key.verifies(signature, of: text))
        #expect(!key.verifies(signature, of: text + [0]))
        #expect(!key.verifies([0] + signature, of: text))
        #expect(!key.verifies(signature.dropLast() + [0, signature[63]], of: text))
        #expect(!key.verifies([UInt8](repeating: 0, count: 64), of: text))
        #expect(!key.verifies(signature.prefix(32) + [UInt8](repeating: 0, count: 32), of: text))
        #expect(!key.verifies([], of: text))
    }

    @Test func `numbers of a signature that begin with zeros are the same numbers`() throws {
        let maker = try SigningKey(.curve)
        let key = try #require(VerifyingKey(x: maker.numbers[0], y: maker.numbers[1]))
        // One in 256 numbers begins with a zero.
        var found: Set<Int> = []
        for number in 0..<8192 where found.count < 2 {
            let text = Array("\(number)".utf8)
            let signature = try maker.sign(text)
            for half in [0, 32] where signature[half] == 0 {
                found.insert(half)
                #expect(key.verifies(signature, of: text))
            }
        }
        #expect(found == [0, 32])
    }

    @Test func `a modulus that is even, too short or too long is no key`() throws {
        let modulus = try Self.bytes(Self.modulus)
        #expect(try Self.rsa(modulus.dropLast() + [modulus[255] ^ 1]) == nil)
        #expect(try Self.rsa(Array(modulus.dropFirst())) == nil)
        #expect(try Self.rsa([0x7F] + modulus.dropFirst()) == nil)
        #expect(try Self.rsa([UInt8](repeating: 0xFF, count: 1024)) != nil)
        #expect(try Self.rsa([1] + [UInt8](repeating: 0xFF, count: 1024)) == nil)
        #expect(try Self.rsa([]) == nil)
    }

    @Test(
        arguments: [
            ([3], true), ([1, 0, 1], true), ([0, 3], true), ([1, 0, 0, 0, 1], true), ([], false),
            ([0], false), ([1], false), ([2], false), ([1, 0, 0], false), ([2, 0, 0, 0, 1], false),
        ] as [([UInt8], Bool)])
    func `an exponent is odd, and from 2 to 33 bits long`(exponent: [UInt8], isGood: Bool) throws {
        #expect((try Self.rsa(exponent: exponent) != nil) == isGood)
    }

    @Test func `a point that is not on the curve is no key`() throws {
        var (x, y) = (try Self.bytes(Self.x), try Self.bytes(Self.y))
        #expect(VerifyingKey(x: y, y: x) == nil)
        #expect(VerifyingKey(x: [0] + x, y: y) == nil)
        #expect(VerifyingKey(x: x, y: Array(y.dropLast())) == nil)
        y[31] ^= 1
        #expect(VerifyingKey(x: x, y: y) == nil)
        (x, y) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        #expect(VerifyingKey(x: x, y: y) == nil)
    }

    @Test func `texts are equal that have the same bytes`() {
        #expect(areEqualInConstantTime([], []) && areEqualInConstantTime([1, 2], [1, 2]))
        #expect(!areEqualInConstantTime([1, 2], [1, 3]) && !areEqualInConstantTime([1], [1, 2]))
    }
}
