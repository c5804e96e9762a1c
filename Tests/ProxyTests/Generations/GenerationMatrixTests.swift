import ReferenceBackend
import TablesProtocol
import Testing

/// Clients of every family over backends of every flavour, each operation: 4 × 6 × all of them.
@Suite struct GenerationMatrixTests {
    @Test(.serialized, arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `what a client writes arrives at the backend`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        try await Stage.inProcess(family, flavour) { try await $0.writes() }
    }

    @Test(.serialized, arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `what is refused has the client's shape and leaves nothing`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        try await Stage.inProcess(family, flavour) { try await $0.refusals() }
    }

    @Test(.serialized, arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `what others write at the backend shows in the client's form`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        try await Stage.inProcess(family, flavour) { try await $0.otherWriter() }
    }

    @Test(.serialized, arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `a list is paged, filtered, ordered and counted to its end`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        try await Stage.inProcess(family, flavour) { try await $0.pages() }
    }

    @Test(.serialized, arguments: ClientFamily.allCases, BackendFlavour.allCases)
    func `values arrive as they are`(
        family: ClientFamily, flavour: BackendFlavour
    ) async throws {
        try await Stage.inProcess(family, flavour) { try await $0.values() }
    }
}
