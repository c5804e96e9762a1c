import HTTPMessage
import HTTPTypes
import Platform
import TablesProtocol

/// Backups that this program makes by itself or when it is asked.
package struct BackupRoutes: Sendable {
    let backups: AutomaticBackups

    package static let list = Route<Answers.BackupPage>(
        .get, "/backups", "backups", .status, "The backups of the backup folder, and the plan",
        answers: "The latest first.", of: .program)
    package static let make = Route<Answers.BackupMade>(
        .post, "/backups", "makeBackup", .status,
        "Make and check a backup in the backup folder now", answers: "Made and checked.",
        of: .program, status: .created, location: "The list of backups.",
        also: [507: "No backup was made."])
    static let rehearse = Route<Answers.BackupMade>(
        .post, "/backups/{at}/rehearse", "rehearseBackup", .status,
        "Restore a backup to temporary files, which shows that it can be restored",
        answers: "What was restored.", of: .program,
        names: ["at": "Time of the backup, as the list has it."],
        also: [409: "It cannot be restored."])

    var routes: [OperatorRoute] {
        [
            .later(Self.list, list), .later(Self.make, make),
            .later(Self.rehearse, isChange: false, rehearse),
        ]
    }

    private func list(_: OperatorCall) async -> Answers.BackupPage {
        let state = await backups.state
        return .init(
            items: state.backups.reversed(), next: nil, total: state.backups.count,
            folder: state.folder, everySeconds: state.plan.everySeconds, keep: state.plan.keep,
            failure: state.failure, nextAt: state.next)
    }

    private func make(_: OperatorCall) async throws -> Answered<Answers.BackupMade> {
        switch await backups.make() {
        case .success(let made):
            return Answered(
                .init(path: made.backup.path, at: made.backup.at, stores: made.stores), .created,
                location: "\(RouteDescription.api)/backups")
        case .failure(let problem):
            throw Problem(
                status: .init(code: 507, reasonPhrase: "Insufficient Storage"),
                code: "backup-failed", detail: problem.sentence)
        }
    }

    private func rehearse(_ call: OperatorCall) async throws -> Answers.BackupMade {
        guard let time = Instant(parsing: call.parameter("at")) else {
            throw Problem.invalid("The backup is named by its time, as the list has it.")
        }
        switch await backups.rehearse(time) {
        case .success(let (backup, stores))?:
            return .init(path: backup.path, at: backup.at, stores: stores)
        case .failure(let problem)?:
            throw Problem(status: .conflict, code: "backup-failed", detail: problem.sentence)
        case nil: throw Problem.notFound("There is no backup of that time.")
        }
    }
}
