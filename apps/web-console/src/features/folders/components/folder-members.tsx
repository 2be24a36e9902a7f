import { t } from '@lingui/core/macro';
import type { DragEvent } from 'react';
import { Link } from 'wouter';
import { busyReason } from '../../../shared/instances/busy.js';
import { InstanceStatus } from '../../../shared/instances/instance-status.js';
import { isVm, type Instance } from '../../../shared/instances/instance.js';
import { queryFor } from '../../../shared/list/query-for.js';
import { pathOfRef, paths } from '../../../shared/location/paths.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { OUTSIDE } from '../folder-nodes.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** How many members the panel lists. */
const MOST = 50;

interface FolderMembersProps {
  /** The path of the folder, or `OUTSIDE`. */
  folder: string;
  members: readonly Instance[];
  /** Why folders can't be changed. */
  refusal: string | undefined;
  onPut: (member: Instance) => void;
  onDrag: (member: Instance | undefined) => void;
}

/** The first members of a folder, each of which can be put into another one, with links to the lists of all. */
export function FolderMembers({ folder, members, refusal, onPut, onDrag }: FolderMembersProps) {
  const more = members.length - MOST;
  const query = new URLSearchParams({ q: queryFor({ folder: folder === OUTSIDE ? '' : `${folder}/*` }) });
  return (
    <section className="hg-peek-activity" aria-label={t`Members`}>
      <h3>
        {t`Members`}
        <span className="hg-folder-lists">
          {members.some(isVm) && <Link href={`${paths.fleet}?${query}`}>{t`List of machines`}</Link>}
          {members.some((member) => !isVm(member)) && (
            <Link href={`${paths.containers}?${query}`}>{t`List of containers`}</Link>
          )}
        </span>
      </h3>
      {members.length === 0 && (
        <p className="hg-note">{folder === OUTSIDE ? t`Every machine is in a folder` : t`No machines`}</p>
      )}
      <ul className="hg-node-guests">
        {members.slice(0, MOST).map((member) => (
          <Member
            key={member.ref}
            member={member}
            folder={folder}
            refusal={refusal ?? busyReason(member)}
            onPut={onPut}
            onDrag={onDrag}
          />
        ))}
      </ul>
      {more > 0 && <p className="hg-note">{t`and ${readableNumber(more)} more`}</p>}
    </section>
  );
}

interface MemberProps extends Omit<FolderMembersProps, 'members'> {
  member: Instance;
}

function Member({ member, folder, refusal, onPut, onDrag }: MemberProps) {
  const begin = (event: DragEvent): void => {
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setData('text/plain', member.ref);
    onDrag(member);
  };
  const below = folder === OUTSIDE ? '' : (member.folder ?? '').slice(folder.length + 1);
  return (
    <li
      className="hg-folder-member"
      draggable={refusal === undefined}
      onDragStart={begin}
      onDragEnd={() => onDrag(undefined)}
    >
      <InstanceStatus instance={member} inRow />
      <span className="hg-folder-member-name">
        <Link href={pathOfRef(member.ref)} className="hg-quiet-link" translate="no" draggable={false}>
          {member.name}
        </Link>
        {below !== '' && (
          <span className="hg-note" translate="no">
            {below}
          </span>
        )}
      </span>
      <ReasonedButton
        isSmall
        variant="link"
        reason={refusal}
        aria-label={t`Move to…, ${member.name}`}
        onClick={() => onPut(member)}
      >
        {t`Move to…`}
      </ReasonedButton>
    </li>
  );
}
