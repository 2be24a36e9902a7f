import { t } from '@lingui/core/macro';
import type { Instance } from '../../shared/instances/instance.js';
import { folderPath, nameOfFolder, parentOf, placeProblem } from '../../shared/names/folder-name-rule.js';

/** A folder or an instance that is dragged, or for which the user chooses a folder. */
export type Dragged = { readonly folder: string } | { readonly member: Instance };

/** Where a folder would be after it was put into another one. */
export const movedPath = (folder: string, target: string): string => folderPath(target, nameOfFolder(folder));

/**
 * Why something can't be put into a folder, as a sentence; undefined when it can.
 * @param target the path of the folder; empty for the top, and for an instance, for no folder
 * @param known the paths of all folders
 */
export function dropProblem(dragged: Dragged, target: string, known: readonly string[]): string | undefined {
  if ('member' in dragged) return (dragged.member.folder ?? '') === target ? t`It is already there.` : undefined;
  if (parentOf(dragged.folder) === target) return t`It is already there.`;
  return placeProblem(movedPath(dragged.folder, target), known, dragged.folder);
}
