import { t } from '@lingui/core/macro';
import type { WhoamiView } from '@headgate/api-contracts';
import { useLocation } from 'wouter';
import { logOut } from '../../../shared/api/log-out.js';
import { paths } from '../../../shared/location/paths.js';
import { useWhoami } from '../../../shared/queries/use-whoami.js';
import { Data } from '../../../shared/ui/data.js';
import { Menu } from '../../../shared/ui/dropdown.js';
import { useNotify } from '../../../shared/ui/notifications.js';

/** The user and their role, as the service sees them; a menu for a user who has logged in. */
export function CallerBadge() {
  const { data: whoami } = useWhoami();
  if (!whoami) return null;
  if (whoami.session !== undefined) return <UserMenu whoami={whoami} />;
  return (
    <span
      className="hg-caller"
      title={
        whoami.login ? t`Signed in as ${whoami.login}` : t`Not signed in: the service received no identity headers.`
      }
    >
      <Caller whoami={whoami} />
    </span>
  );
}

function UserMenu({ whoami }: { whoami: WhoamiView }) {
  const [, navigate] = useLocation();
  const notify = useNotify();
  const leave = (): void => {
    logOut().catch((error: unknown) =>
      notify({ variant: 'danger', title: t`Couldn't log out`, body: (error as Error).message }),
    );
  };
  return (
    <Menu
      isPlain
      className="hg-caller"
      name={t`User`}
      label={
        <>
          <span className="hg-hidden-text">{t`User: ${whoami.name || whoami.login}`} </span>
          <span className="hg-caller-label" aria-hidden="true">
            <Caller whoami={whoami} />
          </span>
        </>
      }
      items={[
        { label: t`Account and sessions`, run: () => navigate(paths.account) },
        { label: t`Log out`, afterLine: true, run: leave },
      ]}
    />
  );
}

function Caller({ whoami }: { whoami: WhoamiView }) {
  const known = whoami.name || whoami.login;
  const role = !whoami.enforced ? t`everyone is admin` : whoami.admin ? t`admin` : t`view only`;
  return (
    <>
      <span className="hg-caller-letter" aria-hidden="true">
        {firstLetter(known)}
      </span>
      <span className="hg-caller-name">
        {known ? <Data>{known}</Data> : t`anonymous`} <span className="hg-note">{role}</span>
      </span>
    </>
  );
}

/** Of the name itself, which is the same in every language. A name may begin with a mark, as in "@ada". */
const firstLetter = (name: string): string => /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0].toLowerCase() ?? '?';
