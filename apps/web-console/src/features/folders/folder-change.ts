import { t } from '@lingui/core/macro';
import type { ApiRequest } from '../../shared/actions/api-request.js';
import { folderChanges } from '../../shared/folders/folder-changes.js';
import { folderPath, nameOfFolder, parentOf } from '../../shared/names/folder-name-rule.js';

/** A change of the tree that the user has begun. */
export type FolderChange =
  | { readonly type: 'create'; readonly parent: string }
  | { readonly type: 'rename'; readonly path: string }
  /** `parent` is given by a drag, so that only the plan is left. */
  | { readonly type: 'move'; readonly path: string; readonly parent?: string }
  | { readonly type: 'remove'; readonly path: string };

/** The text of a form for the change. */
export interface FolderDraft {
  readonly name: string;
  readonly parent: string;
}

export const draftOf = (change: FolderChange): FolderDraft =>
  change.type === 'create'
    ? { name: '', parent: change.parent }
    : {
        name: nameOfFolder(change.path),
        parent: change.type === 'move' && change.parent !== undefined ? change.parent : parentOf(change.path),
      };

/** The path of the folder after the change. */
export const targetOf = ({ name, parent }: FolderDraft): string => folderPath(parent, name);

interface ChangeWording {
  readonly request: ApiRequest;
  readonly title: string;
  /** The text of the button that runs it. */
  readonly label: string;
  readonly done: string;
  readonly failure: string;
}

/** @param to the path after the change */
export function plannedChange(change: FolderChange, to: string): ChangeWording {
  switch (change.type) {
    case 'create':
      return {
        request: folderChanges.create(to),
        title: t`Create the folder ${to}?`,
        label: t`Create`,
        done: t`Created the folder ${to}`,
        failure: t`Couldn't create the folder ${to}`,
      };
    case 'remove':
      return {
        request: folderChanges.remove(change.path),
        title: t`Delete the folder ${change.path}?`,
        label: t`Delete`,
        done: t`Deleted the folder ${change.path}`,
        failure: t`Couldn't delete the folder ${change.path}`,
      };
    case 'rename':
    case 'move': {
      const isRenamed = change.type === 'rename';
      return {
        request: folderChanges.move(change.path, to),
        title: isRenamed ? t`Rename ${change.path} to ${to}?` : t`Move ${change.path} to ${to}?`,
        label: isRenamed ? t`Rename` : t`Move`,
        done: t`${change.path} is ${to} now`,
        failure: isRenamed ? t`Couldn't rename the folder ${change.path}` : t`Couldn't move the folder ${change.path}`,
      };
    }
  }
}
