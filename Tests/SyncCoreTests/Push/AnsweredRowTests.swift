import HTTPMessage
import TablesProtocol
import Testing

@testable import SyncCore

/// When the row in an answer of success is not enough for the item's next change.
@Suite struct AnsweredRowTests {
    private static let base = #"{"text":"a","note":"n"}"#

    private static func answered(
        _ kind: OperationKind, _ generation: Generation, sent: String, answer: String,
        baseVersion: String? = "v1", version: String? = "v2", known: String = "{}"
    ) throws -> AnsweredRow {
        let id = try ItemID("x")
        let isInsert = kind == .insert
        var subject = PushSubject(
            kind: kind, itemID: id, sent: Columns(stored: sent),
            base: isInsert ? nil : Columns(stored: base),
            baseVersion: isInsert ? nil : baseVersion)
        subject.spellings = ColumnSpellings(text: known)
        let row = RemoteRow(id: id, columns: Columns(stored: answer), version: version)
        return AnsweredRow(subject: subject, row: row, generation: generation)
    }

    @Test(arguments: Generation.allCases, [OperationKind.update, .replace, .undelete])
    func `an answer without the version that the change had is read`(
        generation: Generation, kind: OperationKind
    ) throws {
        let sent = #"{"text":"b"}"#
        let answer = #"{"text":"b","note":"n"}"#
        for (baseVersion, version, isRead) in [
            ("v1", nil, true), ("v1", "v2", false), (nil, nil, false), (nil, "v2", false),
        ] as [(String?, String?, Bool)] {
            let answered = try Self.answered(
                kind, generation, sent: sent, answer: answer, baseVersion: baseVersion,
                version: version)
            #expect(answered.mustBeRead == isRead, "\(baseVersion ?? "-") \(version ?? "-")")
        }
    }

    @Test(arguments: Generation.allCases)
    func `a delete is not read`(generation: Generation) throws {
        let answered = try Self.answered(
            .delete, generation, sent: "{}", answer: "{}", version: nil)
        #expect(!answered.mustBeRead)
    }

    @Test(arguments: Generation.allCases)
    func `a part of the row is read`(
        generation: Generation
    ) throws {
        for (kind, sent, answer, isPart) in [
            (.insert, #"{"text":"a","note":"n"}"#, #"{"TEXT":"a","note":null,"more":1}"#, false),
            (.insert, #"{"text":"a","note":"n"}"#, #"{"text":"a"}"#, true),
            (.insert, #"{"text":"a","note":null}"#, #"{"text":"a"}"#, false),
            (.replace, #"{"text":"b","note":null}"#, #"{"text":"b"}"#, false),
            (.replace, #"{"text":"b","note":null}"#, "{}", true),
            (.update, #"{"text":"b"}"#, "{}", true),
        ] as [(OperationKind, String, String, Bool)] {
            let answered = try Self.answered(kind, generation, sent: sent, answer: answer)
            #expect(answered.mustBeRead == isPart, "\(kind) \(sent) \(answer)")
            // A column that reads do not give is not missing.
            let hidden = try Self.answered(
                kind, generation, sent: sent, answer: answer,
                known: #"{"note":["note",false],"text":["text",false]}"#)
            #expect(!hidden.mustBeRead)
        }
        // Only the third generation is sent the columns that an update does not change.
        let update = try Self.answered(
            .update, generation, sent: #"{"text":"b"}"#, answer: #"{"text":"b"}"#)
        #expect(update.mustBeRead == (generation == .datasync))
    }

    @Test func `a column that no read has given is read once where reads may leave it out`() throws
    {
        for (known, isRead) in [
            (#"{"text":["text"],"note":"note"}"#, true),
            (#"{"text":["text"],"note":["Note"]}"#, false),
            (#"{"text":["text"],"note":["note",false]}"#, false),
        ] {
            var answered = try Self.answered(
                .update, .mobileApps, sent: #"{"text":"b"}"#, answer: #"{"text":"b","note":null}"#,
                known: known)
            #expect(!answered.mustBeRead)
            answered.row.answersWrite = true
            #expect(answered.mustBeRead == isRead, "\(known)")
            var now = answered.row
            now.columns = Columns(stored: #"{"TEXT":"b"}"#)
            now.sharesColumns = false
            #expect(answered.unread(in: now) == [])
            now.sharesColumns = true
            #expect(answered.unread(in: now) == ["note"])
        }
    }

    @Test func `without a list the outcome is unknown if nobody answered, else the answer counts`()
        throws
    {
        let answered = try Self.answered(
            .update, .mobileApps, sent: #"{"text":"b"}"#, answer: #"{"text":"b"}"#, version: nil)
        let lost: [RemoteAnswer] = [
            .unavailable(status: 429, retryAfter: nil),
            .unreachable(.init(reach: .notSent, cause: .connect, message: "")),
        ]
        for answer in lost {
            guard case .postponed(let later) = answered.outcome(withoutRow: answer) else {
                Issue.record("\(answer)")
                continue
            }
            #expect(later.maybeApplied)
        }
        let answers: [RemoteAnswer] = [
            .rows(RemotePage(elements: [], hasNext: false)), .missing(status: 404),
            .unauthorized, .rejected(status: 403, text: ""), .failed(status: 500, text: ""),
            .unusable(status: 200, .html),
        ]
        for answer in answers {
            #expect(answered.presentRow(in: answer) == nil)
            #expect(answered.outcome(withoutRow: answer) == .applied(row: answered.row))
        }
    }
}
