import { t } from '@lingui/core/macro';
import { useWhoami } from '../../../shared/queries/use-whoami.js';
import { Data } from '../../../shared/ui/data.js';

/** The user and their role, as the service sees them. */
export function CallerBadge() {
  const { data: whoami } = useWhoami();
  if (!whoami) return null;
  const known = whoami.name || whoami.login;
  const role = !whoami.enforced ? t`everyone is admin` : whoami.admin ? t`admin` : t`view only`;
  return (
    <span
      className="hg-caller"
      title={
        whoami.login ? t`Signed in as ${whoami.login}` : t`Not signed in: the service received no identity headers.`
      }
    >
      <span className="hg-caller-letter" aria-hidden="true">
        {firstLetter(known)}
      </span>
      <span className="hg-caller-name">
        {known ? <Data>{known}</Data> : t`anonymous`} <span className="hg-note">{role}</span>
      </span>
    </span>
  );
}

/** Of the name itself, which is the same in every language. A name may begin with a mark, as in "@ada". */
const firstLetter = (name: string): string => /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toLowerCase() ?? '?';
