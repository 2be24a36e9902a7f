import { BackupTargetStore, type BackupTarget } from '@headgate/domain-contracts';

/** One target. */
export class MemoryTargets extends BackupTargetStore {
  constructor(private readonly target: BackupTarget) {
    super();
  }

  override async put(): Promise<void> {
    throw new Error('The target of the test does not change.');
  }

  override async delete(): Promise<boolean> {
    throw new Error('The target of the test does not change.');
  }

  override of(): readonly BackupTarget[] {
    return [this.target];
  }

  override all(): readonly BackupTarget[] {
    return [this.target];
  }

  override count(): number {
    return 1;
  }
}
