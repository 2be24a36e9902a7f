import { buildPlan, Change, type Audit, type Caller, type Plan } from '@headgate/domain-contracts';
import type { FileSession, FileSessions } from './file-sessions.js';

export interface CloseFilesDeps {
  readonly sessions: FileSessions;
  readonly audit: Audit;
}

/** Ends a session for files of its user. */
export class CloseFiles extends Change<[wanted: Pick<FileSession, 'id' | 'scope' | 'owner'>], void, FileSession> {
  constructor(private readonly deps: CloseFilesDeps) {
    super();
  }

  protected override prepare({ id, scope, owner }: Pick<FileSession, 'id' | 'scope' | 'owner'>): FileSession {
    return this.deps.sessions.get(id, scope, owner);
  }

  protected override async planPrepared(): Promise<Plan> {
    return buildPlan([{ name: 'close', detail: 'End the guest that reads the files.' }]);
  }

  protected override async runPrepared({ files, subject, label }: FileSession, caller: Caller): Promise<void> {
    await this.deps.audit.of(
      caller,
      'close files',
      subject,
      () => files.close(),
      () => label,
    );
  }
}
