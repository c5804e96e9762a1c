import TablesProtocol
import Testing

@testable import Backend

/// What every storage does with a write.
@Suite struct RowWriteTests {
    @Test(arguments: StorageUnderTest.all)
    func `a row comes back as it was written, text for text`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let json =
            #"{"z":1.10,"a":9007199254740993,"text":"Amélie \u0000 \ud83d\ude00","#
            + #""n":null,"o":{"b":[1, 2]}}"#
        let row = try table.insert("Ä b", json)
        #expect(row.columns.text == json)
        #expect(row.id == "Ä b" && !row.deleted && !row.version.isEmpty)
        #expect(row.createdAt == TableUnderTest.moment(0) && row.updatedAt == row.createdAt)
        #expect(try table.storage.get("Ä b", in: table.name) == row)
        #expect(try table.storage.get("ä b", in: table.name) == nil)
        #expect(try table.storage.rows(in: table.name) == [row])
    }

    @Test(arguments: StorageUnderTest.all)
    func `an id that is there is not written again, deleted or not`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let row = try table.insert("a", #"{"n":1}"#)
        let again = NewRow(id: "a", columns: Columns([.init("n", .integer(2))]))
        let insert = {
            try table.storage.insert(
                again, into: table.name, creating: table.options, table.write())
        }
        #expect(try insert() == .exists(row))
        let deleted = try #require(try table.mark([row], deleted: true, as: .delete)?.first)
        #expect(try insert() == .exists(deleted))
        #expect(try table.storage.effects(after: 0, limit: 9).map(\.kind) == [.insert, .delete])
    }

    @Test(arguments: StorageUnderTest.all)
    func `a changed row has another version and stamp, and its id and birth stay`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let first = try table.insert("a", #"{"n":1}"#)
        let second = try #require(try table.update(first, #"{"m":2}"#, table.write(at: 50)))
        #expect(second.columns.text == #"{"m":2}"#)
        #expect(second.version != first.version)
        #expect(second.updatedAt == TableUnderTest.moment(50))
        #expect(second.createdAt == first.createdAt)
        #expect(try table.storage.get("a", in: table.name) == second)
    }

    @Test(arguments: StorageUnderTest.all)
    func `no version comes again where some rows came with one`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        var versions: [String] = []
        for life in 0..<4 {
            let given = life % 2 == 0 ? "given \(life)" : nil
            let new = NewRow(id: "a", columns: Columns(), version: given)
            guard
                case .inserted(let inserted) = try table.storage.insert(
                    new, into: table.name, creating: table.options, table.write())
            else { throw Unexpected() }
            if let given { #expect(inserted.version == given) }
            let changed = try #require(try table.update(inserted, #"{"n":1}"#))
            versions += [inserted.version, changed.version]
            #expect(try table.storage.remove([changed], from: table.name, table.write()), "\(life)")
        }
        #expect(Set(versions).count == versions.count, "\(versions)")
    }

    @Test(arguments: StorageUnderTest.all)
    func `a row that is not as it was read is neither changed nor removed`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let old = try table.insert("a", #"{"n":1}"#)
        let new = try #require(try table.update(old, #"{"n":2}"#))
        #expect(try table.update(old, #"{"n":3}"#) == nil)
        #expect(try table.mark([old], deleted: true, as: .delete) == nil)
        #expect(try !table.storage.remove([old], from: table.name, table.write()))
        #expect(try table.storage.rows(in: table.name) == [new])
        #expect(try table.storage.remove([new], from: table.name, table.write()))
        #expect(try table.update(new, #"{"n":4}"#) == nil)
        #expect(try table.storage.effectCount(of: "a", in: table.name) == 3)
    }

    @Test(arguments: StorageUnderTest.all)
    func `of several rows all are written or none`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let a = try table.insert("a")
        let b = try table.insert("b")
        let newer = try #require(try table.update(b, #"{"n":1}"#))
        #expect(try table.mark([a, b], deleted: true, as: .delete) == nil)
        #expect(try !table.storage.remove([a, b], from: table.name, table.write()))
        #expect(try table.storage.rows(in: table.name) == [a, newer])
        #expect(try table.storage.effects(after: 0, limit: 9).count == 3)
        let deleted = try #require(try table.mark([a, newer], deleted: true, as: .delete))
        #expect(deleted.map(\.id) == ["a", "b"] && deleted.allSatisfy(\.deleted))
        #expect(Set(deleted.map(\.updatedAt)).count == 2)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a tombstone stays until it is undeleted, and a removed row leaves nothing`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let row = try table.insert("a", #"{"n":1}"#)
        let deleted = try #require(try table.mark([row], deleted: true, as: .delete)?.first)
        #expect(deleted.deleted && deleted.columns == row.columns)
        #expect(try table.ids() == [])
        let back = try #require(try table.mark([deleted], deleted: false, as: .undelete)?.first)
        #expect(!back.deleted && back.version != row.version)
        #expect(try table.ids() == ["a"])
        #expect(try table.storage.remove([back], from: table.name, table.write()))
        #expect(try table.storage.rows(in: table.name) == [])
        #expect(try table.storage.get("a", in: table.name) == nil)
    }

    @Test(arguments: StorageUnderTest.all)
    func `a given version is kept, and the next one is the storage's own`(
        kind: StorageUnderTest
    ) throws {
        let table = try TableUnderTest(kind)
        let new = NewRow(id: "a", columns: Columns(), version: "Z2l2ZW4=")
        let insertion = try table.storage.insert(
            new, into: table.name, creating: table.options, table.write())
        guard case .inserted(let row) = insertion else { throw Unexpected() }
        #expect(row.version == "Z2l2ZW4=")
        let next = try #require(try table.update(row, "{}"))
        #expect(next.version != row.version)
        let change = RowChange(old: next, columns: Columns(), deleted: false, version: "b3RoZXI=")
        let changed = try table.storage.change([change], in: table.name, as: .update, table.write())
        #expect(changed?.first?.version == "b3RoZXI=")
    }

    @Test(arguments: StorageUnderTest.all)
    func `what is not kept is answered as if it were`(kind: StorageUnderTest) throws {
        let table = try TableUnderTest(kind)
        let row = try table.insert("a", #"{"n":1}"#)
        let pretended = table.write(at: 9, isKept: false)
        let other = try table.insert("b", "{}", pretended)
        #expect(other.updatedAt == TableUnderTest.moment(9))
        #expect(try table.update(row, #"{"n":2}"#, pretended)?.columns.text == #"{"n":2}"#)
        #expect(try table.storage.remove([row], from: table.name, pretended))
        #expect(try table.storage.rows(in: table.name) == [row])
        #expect(try table.storage.effects(after: 0, limit: 9).count == 1)
        #expect(try table.insert("c", "{}").updatedAt == TableUnderTest.moment(1))
    }
}
