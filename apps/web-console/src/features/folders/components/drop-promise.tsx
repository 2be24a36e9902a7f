import { t } from '@lingui/core/macro';
import { nameOfFolder } from '../../../shared/names/folder-name-rule.js';
import { movedPath, type Dragged } from '../folder-drag.js';

interface DropPromiseProps {
  dragged: Dragged;
  /** The path of the folder that it is held over; empty for the top or for no folder. */
  target: string;
  refusal: string | undefined;
}

/** What follows when the user lets go. */
export const DropPromise = ({ dragged, target, refusal }: DropPromiseProps) => (
  <div className="hg-card hg-promise" role="status">
    <p className="hg-promise-title">
      <b>{titleOf(dragged, target)}</b>
    </p>
    {refusal === undefined ? (
      <p className="hg-note">
        {'member' in dragged ? t`It keeps running where it is.` : t`Drop to see the plan. Nothing moves yet.`}
      </p>
    ) : (
      <p className="hg-status--danger">{refusal}</p>
    )}
  </div>
);

function titleOf(dragged: Dragged, target: string): string {
  if ('folder' in dragged)
    return target === ''
      ? t`Move ${nameOfFolder(dragged.folder)} to the top level`
      : t`Move ${dragged.folder} to ${movedPath(dragged.folder, target)}`;
  const { name, folder } = dragged.member;
  return target === ''
    ? folder === undefined
      ? t`Take ${name} out of its folder`
      : t`Take ${name} out of ${folder}`
    : t`Put ${name} into ${target}`;
}
