import { countMembers, type MemberStatus, type TaskMember } from '@headgate/domain-contracts';

/** The members of a bulk task, and which of them have to be written or sent. */
export class TaskMembers {
  private readonly members: Map<string, { member: TaskMember; version: number }>;
  private readonly count: Record<MemberStatus, number>;
  private unwritten = new Set<string>();
  /** Grows with each change. */
  version = 0;

  constructor(members: readonly TaskMember[]) {
    this.members = new Map(members.map((member) => [member.ref, { member, version: 0 }]));
    this.count = countMembers(members);
  }

  get counts(): Readonly<Record<MemberStatus, number>> {
    return { ...this.count };
  }

  get size(): number {
    return this.members.size;
  }

  all(): TaskMember[] {
    return [...this.members.values()].map(({ member }) => member);
  }

  /** Those that changed after a version. */
  since(version: number): TaskMember[] {
    return [...this.members.values()].filter((one) => one.version > version).map(({ member }) => member);
  }

  set(member: TaskMember): void {
    const before = this.members.get(member.ref)?.member;
    if (!before) throw new Error(`${member.ref} is not a member`);
    this.count[before.status]--;
    this.count[member.status]++;
    const { uid } = before;
    this.members.set(member.ref, { member: { ...member, ...(uid && { uid }) }, version: ++this.version });
    this.unwritten.add(member.ref);
  }

  /** Passes the members that were not written yet; if that fails, they are passed again with the next write. */
  async write(put: (members: readonly TaskMember[]) => Promise<void>): Promise<void> {
    const refs = this.unwritten;
    this.unwritten = new Set();
    try {
      await put([...refs].flatMap((ref) => this.members.get(ref)?.member ?? []));
    } catch (error) {
      for (const ref of refs) this.unwritten.add(ref);
      throw error;
    }
  }
}
