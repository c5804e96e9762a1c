import Backend
import Foundation
import TablesProtocol
import Testing

/// Each operation of clients of 4 families over backends of 7 flavours, in one process. Each flavour also has a
/// family over sockets, and `make soak` has all pairs over sockets.
@Suite struct GenerationMatrixTests {
    /// A client and a backend, in one process or over sockets.
    struct Cast: Sendable, CustomTestStringConvertible {
        enum Place: String, CaseIterable { case process, sockets }
        let family: ClientFamily
        let flavour: BackendFlavour
        let place: Place

        static let all = Place.allCases.flatMap { place in
            ClientFamily.allCases.enumerated().flatMap { row, family in
                BackendFlavour.allCases.enumerated().compactMap { column, flavour in
                    let isPlayed =
                        place == .process || row == column % ClientFamily.allCases.count
                        || ProcessInfo.processInfo.environment["ALL_PAIRS"] != nil
                    return isPlayed ? Cast(family: family, flavour: flavour, place: place) : nil
                }
            }
        }
        static let withIntegerIDs = all.filter(\.flavour.hasIntegerIDs)
        static let withSignIn = all.filter { $0.flavour == .express }

        var testDescription: String { "\(family) over \(flavour), \(place)" }

        func play(
            and more: [String] = [], _ body: (Stage) async throws -> Void
        ) async throws {
            switch place {
            case .process: try await Stage.inProcess(family, flavour, and: more, body)
            case .sockets: try await Stage.overSockets(family, flavour, and: more, body)
            }
        }
    }

    @Test(arguments: Cast.all)
    func `what a client writes arrives at the backend`(cast: Cast) async throws {
        try await cast.play { try await $0.writes() }
    }

    @Test(arguments: Cast.all)
    func `a refusal has the client's form and changes nothing`(cast: Cast) async throws {
        try await cast.play { try await $0.refusals() }
    }

    @Test(arguments: Cast.all)
    func `rows that others write at the backend have the client's form`(cast: Cast) async throws {
        try await cast.play { try await $0.otherWriter() }
    }

    @Test(arguments: Cast.all)
    func `a list is paged, filtered, ordered and counted to its end`(cast: Cast) async throws {
        try await cast.play { try await $0.pages() }
    }

    @Test(arguments: Cast.all)
    func `values arrive unchanged`(cast: Cast) async throws {
        try await cast.play { try await $0.values() }
    }

    @Test(arguments: Cast.withIntegerIDs)
    func `an item whose id the backend assigns answers by both ids`(cast: Cast) async throws {
        try await cast.play { try await $0.integerIDs() }
    }

    @Test(arguments: Cast.withSignIn)
    func `a table that requires a sign-in refuses, and other tables sync`(cast: Cast) async throws {
        try await cast.play(and: ["secrets"]) { try await $0.signIn() }
    }
}
