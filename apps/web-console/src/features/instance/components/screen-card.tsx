import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { messageOf } from '../../../shared/api/api-error.js';
import { paths } from '../../../shared/location/paths.js';
import { Icon } from '../../../shared/ui/icon.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useScreenPicture } from '../api/use-screen-picture.js';
import { WatchersNote } from './watchers-note.js';

/** Older than a few requests: the screen can't be opened now. */
const OLD_MS = 20_000;

/** A small picture of the screen that leads to the console, with its age when it is not of now. */
export function ScreenCard({ vm }: { vm: VmView }) {
  const isOn = vm.running && !vm.stale;
  const { data: picture, error, dataUpdatedAt } = useScreenPicture(vm, isOn);
  const shown = isOn ? picture : undefined;
  const text = shown ? '' : sentence(isOn, error);
  const isOld = shown !== undefined && dataUpdatedAt - Date.parse(shown.takenAt) > OLD_MS;
  return (
    <section className="hg-thumbnail" aria-label={t`Screen`}>
      <WatchersNote vm={vm} own={0} />
      <Link
        href={paths.vm(vm, 'console')}
        className="hg-thumbnail-link"
        aria-label={t`${text} Open console of ${vm.name}`.trim()}
      >
        {shown ? <img src={shown.url} alt={t`Screen of ${vm.name}`} /> : <p>{text}</p>}
        <span className="hg-thumbnail-open" aria-hidden="true">
          <Icon name="screen" /> {t`Open console`}
        </span>
      </Link>
      {shown && (isOld || error) && (
        <p className="hg-thumbnail-age">
          <Trans>
            Last picture of <Timestamp at={shown.takenAt} />
          </Trans>
        </p>
      )}
    </section>
  );
}

function sentence(isOn: boolean, error: Error | null): string {
  if (!isOn) return t`The screen is off`;
  return error ? messageOf(error) : t`Loading the screen …`;
}
