import { Grant, isScoped, type AccessAction, type AccessSubject, type GrantKind } from '@headgate/domain-contracts';

/** The rules of a grant, before they can look up instances. */
export type GrantRules = Omit<Grant, 'allowsRef'>;

/** A grant that finds instances by their refs. */
export class BoundGrant extends Grant {
  constructor(
    readonly rules: GrantRules,
    private readonly find: (ref: string) => AccessSubject | undefined,
  ) {
    super();
  }

  override get kind(): GrantKind {
    return this.rules.kind;
  }

  override get label(): string {
    return this.rules.label;
  }

  override get readsShared(): boolean {
    return this.rules.readsShared;
  }

  override get version(): string {
    return this.rules.version;
  }

  override allows(action: AccessAction, subject: AccessSubject): boolean {
    return this.rules.allows(action, subject);
  }

  override allowsRef(action: AccessAction, ref: string): boolean {
    if (!isScoped(this.rules)) return this.rules.allowsAll(action);
    const subject = this.find(ref);
    return subject !== undefined && this.rules.allows(action, subject);
  }

  override allowsFolder(action: AccessAction, path: string): boolean {
    return this.rules.allowsFolder(action, path);
  }

  override allowsAll(action: AccessAction): boolean {
    return this.rules.allowsAll(action);
  }
}
