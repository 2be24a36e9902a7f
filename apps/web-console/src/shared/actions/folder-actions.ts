import { t } from '@lingui/core/macro';
import type { Instance } from '../instances/instance.js';
import type { Action, BulkUndo } from './action.js';

/** Folders are of the service, so every context has them. */
const ABILITY = 'folders';

/** The folder of an instance, for several of them: a single one is put into a folder where its folder is shown. */
export function folderActions<E extends Instance>(
  refusals: Readonly<Record<'folder' | 'unfolder', Action<E>['refusal']>>,
): Readonly<Record<'folder' | 'unfolder', Action<E>>> {
  return {
    folder: {
      id: 'folder',
      label: t`Put into a folder`,
      icon: 'folder',
      effect: 'none',
      ability: ABILITY,
      refusal: refusals.folder,
      done: t`is in the folder`,
      bulk: {
        request: (folder) => ({ action: 'folder', folder }),
        inMenu: true,
        submit: (count) => t`Put ${count} into the folder`,
        input: { label: t`Folder`, type: 'folder', problem: () => undefined },
        undo: putBack,
      },
    },
    unfolder: {
      id: 'unfolder',
      label: t`Take out of the folder`,
      icon: 'folderOpen',
      effect: 'none',
      ability: ABILITY,
      refusal: refusals.unfolder,
      done: t`is in no folder`,
      bulk: {
        request: () => ({ action: 'unfolder' }),
        inMenu: true,
        submit: (count) => t`Take ${count} out of the folder`,
        undo: putBack,
      },
    },
  };
}

/** One action leads back only if all were in the same folder, or all in none. */
function putBack(before: readonly Instance[]): BulkUndo | undefined {
  const [folder, ...others] = new Set(before.map((instance) => instance.folder ?? ''));
  if (folder === undefined || others.length > 0) return undefined;
  return folder === '' ? { action: 'unfolder', text: '' } : { action: 'folder', text: folder };
}
