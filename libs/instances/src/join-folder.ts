import {
  DomainError,
  messageOf,
  type BackgroundWork,
  type FolderDirectory,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';

export interface JoinFolderDeps {
  readonly folders: Pick<FolderDirectory, 'hasFolder' | 'join' | 'complete'>;
  readonly directory: Pick<InstanceDirectory, 'get' | 'waitFor'>;
}

/** Why a new instance can't be put into a folder. */
export const folderRefusals = (
  { folders }: Pick<JoinFolderDeps, 'folders'>,
  folder: string | undefined,
): readonly Refusal[] =>
  folder === undefined || folders.hasFolder(folder)
    ? []
    : [
        {
          code: 'FOLDER_NOT_FOUND',
          reason: `folder: there is no folder ${folder}.`,
          remedy: 'Create the folder first.',
        },
      ];

/** The plan of a creation with the tags and the folder of the instance, which are the same for each backend. */
export function withBelongings(
  plan: Plan,
  { name, tags = [], folder }: { readonly name: string; readonly tags?: readonly string[]; readonly folder?: string },
  deps: Pick<JoinFolderDeps, 'folders'>,
): Plan {
  const refusals = [...plan.refusals, ...folderRefusals(deps, folder)];
  if (refusals.length > 0) return { ...plan, refusals };
  const steps = [
    ...plan.steps,
    ...(tags.length === 0 ? [] : [{ name: 'tag', detail: `Tag ${name} with ${tags.join(', ')}.` }]),
    ...(folder === undefined ? [] : [{ name: 'folder', detail: `Put ${name} into the folder ${folder}.` }]),
  ];
  return { ...plan, steps };
}

/**
 * Puts an instance into a folder as a part of its creation. Until the creation is complete, the membership ends with
 * the instance: one that is removed again leaves nothing in the folder. A folder that can't be joined, for example
 * because it was removed meanwhile, does not undo the creation: the sentence about it is a warning of the creation.
 */
export class JoinFolder {
  private readonly joined = Promise.withResolvers<void>();

  constructor(
    private readonly deps: JoinFolderDeps,
    private readonly ref: InstanceRef,
    private readonly folder: string | undefined,
  ) {}

  /** The rest of the creation, after which the instance is a member for good. */
  during(work: BackgroundWork): BackgroundWork {
    if (this.folder === undefined) return work;
    return async (report) => {
      await work(report);
      await this.joined.promise;
      const instance = this.deps.directory.get(this.ref);
      if (!instance) return;
      await this.deps.folders.complete(instance).catch((error: unknown) => report.log(messageOf(error)));
    };
  }

  /**
   * Waits until the instance is listed, and puts it into the folder.
   * @returns a sentence if that failed
   */
  async join(state: 'member' | 'ending'): Promise<string | undefined> {
    const { ref, folder, deps } = this;
    await deps.directory.waitFor(ref, (instance) => instance !== undefined);
    if (folder === undefined) return undefined;
    try {
      const instance = deps.directory.get(ref);
      if (!instance) throw new DomainError('INSTANCE_NOT_FOUND', `${ref.context} does not list it yet.`);
      await deps.folders.join(instance, folder, state);
      return undefined;
    } catch (error) {
      return `${ref.name} was not put into the folder ${folder}: ${messageOf(error)}`;
    } finally {
      this.joined.resolve();
    }
  }
}
